// Who may speak with whom on the peer port, and what is answered there beside turns.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPeerIdentity } from '../../../../src/transport/forward/identity.ts';
import { openPeerPort } from '../../../../src/transport/forward/peer-port.ts';
import { askPeer, probe } from '../../../../src/transport/forward/peer-service.ts';
import { CountedClock } from '../../../support/counted-clock.ts';
import { at, Forwarder, Home, ScriptedHomes, SILENT, Table } from '../../../support/forwarding.ts';
import { until, within } from '../../../support/until.ts';

async function pair(): Promise<{ readonly table: Table; readonly home: Home; readonly forwarder: Forwarder }> {
  const table = new Table();
  const home = await Home.open('one', { known: table });
  return { table, home, forwarder: await Forwarder.open(table, new ScriptedHomes(at(home))) };
}

describe('an identity', () => {
  it('is new for each process and has the fingerprint of its certificate', async () => {
    const [one, two] = [await createPeerIdentity(0), await createPeerIdentity(0)];
    expect(new X509Certificate(one.certificate).fingerprint256).toBe(one.fingerprint);
    expect(one.fingerprint).not.toBe(two.fingerprint);
  });
});

describe('the peer port', () => {
  it('refuses a certificate that no instance has, after one more look at the table, before a byte reaches HTTP', async () => {
    const { table, home, forwarder } = await pair();
    table.fingerprints.clear();
    const platform = forwarder.call().send('hello');
    expect(await platform.ended()).toMatchObject({ code: status.UNAVAILABLE });
    expect(home.turns).toHaveLength(0);
    expect(table.refreshes).toBeGreaterThan(0);
    expect(forwarder.homes.losses.every(({ why }) => why === 'broken')).toBe(true);
  });

  it('takes the certificate of an instance that has just begun', async () => {
    const { table, home, forwarder } = await pair();
    table.fingerprints.clear();
    table.late = [forwarder.identity.fingerprint];
    forwarder.call().send('hello');
    await home.turn();
    expect(table.refreshes).toBe(1);
  });

  it('refuses whoever shows no certificate', async () => {
    const { home } = await pair();
    const socket = tls.connect({ port: home.port.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    socket.on('error', () => undefined);
    await within('the connection is closed', once(socket, 'close'));
    expect(home.turns).toHaveLength(0);
  });

  it('keeps some of those who show nothing, cuts the oldest of them for one more, and lets instances in all the while', async () => {
    const { home, forwarder } = await pair();
    let cut = 0;
    for (let count = 0; count < 300; count += 1) {
      const socket = net.connect(home.port.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.once('close', () => (cut += 1));
      onTestFinished(() => {
        socket.destroy();
      });
      await within('it is connected', once(socket, 'connect'));
    }
    forwarder.call().send('hello');
    await home.turn();
    await until('those over the limit are cut', () => cut === 45);
  });

  it('gets nothing to read when it is another process than the one that is meant', async () => {
    const { table, home, forwarder } = await pair();
    const other = await createPeerIdentity(forwarder.clock.nowMs());
    table.fingerprints.add(other.fingerprint);
    forwarder.homes.answers = [{ kind: 'at_peer', home: { ...home.peer, certificate: other.fingerprint }, isTaking: false }];
    expect(await forwarder.call().send('hello').ended()).toMatchObject({ code: status.UNAVAILABLE });
    expect(home.turns).toHaveLength(0);
    // The process that was meant does not listen there any more.
    expect(forwarder.homes.losses.every(({ why }) => why === 'refused')).toBe(true);
  });

  it('is its own: no second process can listen on it', async () => {
    const { home } = await pair();
    const second = openPeerPort({
      ...{ host: '127.0.0.1', port: home.port.port, identity: home.identity, instanceId: 'two', known: new Table() },
      ...{ maxMessageBytes: 1000, clock: new CountedClock(), log: SILENT },
    });
    await expect(second).rejects.toMatchObject({ code: 'listen_failed' });
  });

  it('still takes connections while its last turns end, for whoever refuses them is taken for dead', async () => {
    const { home, forwarder } = await pair();
    const platform = forwarder.call().send('hello');
    const turn = await home.turn();
    const closed = home.port.close(10_000);
    const socket = net.connect(home.port.port, '127.0.0.1');
    onTestFinished(() => {
      socket.destroy();
    });
    await within('a connection is taken', once(socket, 'connect'));
    socket.destroy();
    turn.stream.end();
    await platform.ended();
    await closed;
    const late = net.connect(home.port.port, '127.0.0.1');
    const [error] = (await within('a connection is refused', once(late, 'error'))) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  it('cuts what is not over in time', async () => {
    const { home, forwarder } = await pair();
    forwarder.call().send('hello');
    const turn = await home.turn();
    await home.port.close(0);
    await until('the turn is cut', () => turn.isCancelled);
  });
});

describe('a probe', () => {
  it('says whether a call lives there', async () => {
    const { home, forwarder } = await pair();
    home.calls.add('known');
    expect(await probe(forwarder.links, home.peer, 'known', forwarder.clock)).toBe(true);
    expect(await probe(forwarder.links, home.peer, 'unknown', forwarder.clock)).toBe(false);
    expect(forwarder.links.size).toBe(1);
  });

  it('fails where another instance answers, and where nobody does', async () => {
    const { home, forwarder } = await pair();
    home.calls.add('known');
    await expect(probe(forwarder.links, { ...home.peer, id: 'another' }, 'known', forwarder.clock)).rejects.toMatchObject({
      why: 'broken',
    });
    home.kill();
    await expect(probe(forwarder.links, { ...home.peer, id: 'third' }, 'known', forwarder.clock)).rejects.toMatchObject({ why: 'refused' });
  });
});

describe('a question of an operator', () => {
  it('is answered by the instance that it is for', async () => {
    const { home, forwarder } = await pair();
    const long = 'x'.repeat(200_000);
    home.answer = (question) => Promise.resolve(`${question}? ${long}`);
    expect(await askPeer(forwarder.links, home.peer, 'how', forwarder.clock)).toBe(`how? ${long}`);
  });

  it('fails where it cannot be answered, another instance is there, or no answer comes in time', async () => {
    const { home, forwarder } = await pair();
    const asked = (peer = home.peer): Promise<string> => askPeer(forwarder.links, peer, 'how', forwarder.clock);
    await expect(asked()).rejects.toMatchObject({ why: 'broken' });
    await expect(asked({ ...home.peer, id: 'another' })).rejects.toMatchObject({ why: 'broken' });
    home.answer = () => new Promise(() => undefined);
    await expect(asked()).rejects.toMatchObject({ why: 'broken' });
  });
});

describe('the connections to peers', () => {
  it('leave no timer and no connection behind', async () => {
    const { home, forwarder } = await pair();
    const platform = forwarder.call().send('hello');
    (await home.turn()).stream.end();
    await platform.ended();
    await until('the connection is idle', () => forwarder.clock.pendingTimers === 1);
    forwarder.links.close();
    expect(forwarder.clock.pendingTimers).toBe(0);
    await expect(probe(forwarder.links, home.peer, 'known', forwarder.clock)).rejects.toMatchObject({ why: 'broken' });
  });
});
