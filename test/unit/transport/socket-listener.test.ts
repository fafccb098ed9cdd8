// The listening socket of any transport: its limits, its TLS, and what its log says.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { LiveValue } from '../../../src/base/live-value.ts';
import { createLogger } from '../../../src/base/log.ts';
import { peerOf } from '../../../src/base/open-connections.ts';
import { openSocketListener, type SocketListener, type SocketListenerOptions } from '../../../src/transport/socket-listener.ts';
import { testCertificate } from '../../support/certificate.ts';
import { identityOf } from '../../support/tls-peer.ts';
import { until, within } from '../../support/until.ts';

async function open(options: Partial<SocketListenerOptions>): Promise<{ readonly listener: SocketListener; readonly lines: string[] }> {
  const lines: string[] = [];
  const log = createLogger({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
  const listener = await openSocketListener({
    ...{ name: 'test server', protocols: ['http/1.1'], host: '127.0.0.1', port: 0, security: { mode: 'off' } },
    ...{
      maxConnections: 10,
      unverifiedTimeoutMs: 5000,
      maxUnverifiedPerAddress: 10,
      handshakeTimeoutMs: 5000,
      clock: systemClock,
      log,
      onConnection: () => undefined,
    },
    ...options,
  });
  onTestFinished(async () => {
    listener.cut();
    await listener.close();
  });
  return { listener, lines };
}

describe('openSocketListener', () => {
  it('P-12 speaks over TLS what its owner speaks, and nothing else', async () => {
    const certificate = await testCertificate();
    onTestFinished(() => {
      certificate.remove();
    });
    const identity = identityOf({ cert: certificate.certificatePem, key: readFileSync(certificate.keyFile, 'utf8') });
    const { listener, lines } = await open({ security: { mode: 'tls', identity: new LiveValue(identity) } });
    const spoken = (protocols: string[]): Promise<string | false | null> =>
      within(
        'the handshake ends',
        new Promise((resolve, reject) => {
          const socket = tls.connect({
            ...{ host: '127.0.0.1', port: listener.port, servername: 'localhost' },
            ALPNProtocols: protocols,
            ca: certificate.certificatePem,
          });
          socket.once('secureConnect', () => {
            resolve(socket.alpnProtocol);
            socket.destroy();
          });
          socket.once('error', reject);
        }),
      );
    expect(await spoken(['h2', 'http/1.1'])).toBe('http/1.1');
    await expect(spoken(['h2'])).rejects.toThrow(/no application protocol/iu);
    await until('the log tells', () => lines.some((line) => line.includes('a TLS handshake with the test server failed')));
  });

  it('looks at no certificate any more when it is closed', async () => {
    const certificate = await testCertificate();
    onTestFinished(() => {
      certificate.remove();
    });
    const identity = identityOf({ cert: certificate.certificatePem, key: readFileSync(certificate.keyFile, 'utf8') });
    let watching = 0;
    const live = {
      current: identity,
      onChange: () => {
        watching += 1;
        return () => {
          watching -= 1;
        };
      },
    };
    const { listener } = await open({ security: { mode: 'tls', identity: live } });
    expect(watching).toBe(1);
    await listener.close();
    await until('nobody looks', () => watching === 0);
  });

  it('P-18 closes what is too much, and says whose limit it was', async () => {
    const { listener, lines } = await open({ maxConnections: 1 });
    const [first, second] = [0, 1].map(() => net.connect(listener.port, '127.0.0.1').on('error', () => undefined));
    await within('the older one is closed', new Promise((resolve) => first?.resume().once('close', resolve)));
    second?.destroy();
    const told = 'connections to the test server were closed: as many as allowed are open';
    expect(lines.filter((line) => line.includes(told))).toHaveLength(1);
  });

  it('P-18 says at level debug that it closed connections which showed no good token in time', async () => {
    const { listener, lines } = await open({ unverifiedTimeoutMs: 100 });
    const silent = net.connect(listener.port, '127.0.0.1');
    await within('it is closed', new Promise((resolve) => silent.resume().once('close', resolve)));
    await until('the log tells', () => lines.some((line) => line.includes('were closed: they showed no valid token in time')));
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'debug', setting: 'unverified_timeout_ms', limit: 100, closed: 1 },
    ]);
  });

  it("P-18 gives a stranger's descriptor to a new connection where there are no more, and none of those with a good token", async () => {
    let isShort = false;
    const taken: net.Socket[] = [];
    const { listener } = await open({ mayTake: () => !isShort, onConnection: (connection) => void taken.push(connection) });
    const connect = async (): Promise<net.Socket | undefined> => {
      const before = taken.length;
      let isOver = false;
      const client = net.connect(listener.port, '127.0.0.1').on('error', () => undefined);
      client.resume().once('close', () => (isOver = true));
      onTestFinished(() => void client.destroy());
      await until('it is taken or closed', () => taken.length > before || isOver);
      return taken[before];
    };
    const [verified, stranger] = [await connect(), await connect()];
    listener.verified(peerOf(verified ?? new net.Socket()));
    isShort = true;
    const late = await connect();
    expect([verified?.destroyed, stranger?.destroyed, late?.destroyed]).toEqual([false, true, false]);
    listener.verified(peerOf(late ?? new net.Socket()));
    expect(await connect()).toBeUndefined();
    expect([verified?.destroyed, late?.destroyed]).toEqual([false, false]);
  });
});
