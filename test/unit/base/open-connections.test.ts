import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenConnections, peerOf, type ClosedFor, type ConnectionLimits } from '../../../src/base/open-connections.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { until } from '../../support/until.ts';

const clock = new FakeClock();
const clients: net.Socket[] = [];
let server: net.Server;
let connections: OpenConnections;
let accepted: net.Socket[];
let closed: ClosedFor[];

function limit(limits: Partial<ConnectionLimits>): void {
  connections = new OpenConnections(
    { maxConnections: 10, unverifiedTimeoutMs: 5000, maxUnverifiedPerAddress: 10, ...limits },
    clock,
    (why) => closed.push(why),
  );
}

/** Connects from an address of loopback. @returns the server's side. */
async function connect(localAddress = '127.0.0.1'): Promise<net.Socket> {
  const { port } = server.address() as net.AddressInfo;
  const client = net.connect({ port, host: '127.0.0.1', localAddress });
  client.on('error', () => undefined).resume();
  clients.push(client);
  const before = accepted.length;
  await until('it is accepted', () => accepted.length > before);
  const socket = accepted.at(-1);
  if (socket === undefined) throw new Error('nothing was accepted');
  return socket;
}

beforeEach(async () => {
  accepted = [];
  closed = [];
  limit({});
  server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    accepted.push(socket);
    if (connections.admit(socket)) connections.ready(peerOf(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(async () => {
  connections.cut();
  for (const client of clients.splice(0)) client.destroy();
  server.close();
  await once(server, 'close');
  expect(clock.pendingTimers).toBe(0);
});

describe('OpenConnections', () => {
  it('P-18 closes a connection whose first good token does not come in time, and no other', async () => {
    const [silent, verified] = [await connect(), await connect()];
    connections.verified(peerOf(verified));
    clock.advance(4999);
    expect(silent.destroyed).toBe(false);
    clock.advance(1);
    expect([silent.destroyed, verified.destroyed]).toEqual([true, false]);
    clock.advance(1_000_000);
    expect(verified.destroyed).toBe(false);
    expect(closed).toEqual(['unverified_timeout_ms']);
  });

  it('P-18 closes no connection whose token is being checked, however long that takes', async () => {
    const socket = await connect();
    clock.advance(3000);
    const over = [connections.began(peerOf(socket)), connections.began(peerOf(socket))];
    clock.advance(60_000);
    expect(socket.destroyed).toBe(false);
    for (const each of over) for (let twice = 0; twice < 2; twice += 1) each();
    clock.advance(7499);
    expect(socket.destroyed).toBe(false);
    clock.advance(1);
    expect(socket.destroyed).toBe(true);
  });

  it('P-18 keeps the connection of whoever repeats a health check as often as strangers are waited for', async () => {
    const socket = await connect();
    for (let each = 0; each < 30; each += 1) {
      connections.began(peerOf(socket))();
      clock.advance(5001);
    }
    expect(socket.destroyed).toBe(false);
  });

  it('P-18 lets a proxy bring more from its address than may be idle there while their tokens are checked', async () => {
    limit({ maxUnverifiedPerAddress: 2 });
    const idle = await connect();
    const through: net.Socket[] = [];
    for (let each = 0; each < 5; each += 1) {
      const socket = await connect();
      connections.began(peerOf(socket));
      through.push(socket);
    }
    expect([idle, ...through].map(({ destroyed }) => destroyed)).toEqual([true, false, false, false, false, false]);
  });

  it('P-18 closes strangers in the order they were last answered, and those that wait for a reply last', async () => {
    limit({ maxConnections: 3 });
    const [waiting, answered, silent] = [await connect(), await connect(), await connect()];
    connections.began(peerOf(waiting));
    connections.began(peerOf(answered))();
    const gone = async (): Promise<boolean[]> => {
      connections.began(peerOf(await connect()));
      return [waiting, answered, silent].map(({ destroyed }) => destroyed);
    };
    expect(await gone()).toEqual([false, false, true]);
    expect(await gone()).toEqual([false, true, true]);
    expect(await gone()).toEqual([true, true, true]);
  });

  it('P-18 makes room on a port full of good tokens by the connection that nothing was open on for longest', async () => {
    limit({ maxConnections: 3 });
    const [busy, first, second] = [await connect(), await connect(), await connect()];
    for (const socket of [busy, first, second]) connections.verified(peerOf(socket));
    connections.began(peerOf(busy));
    connections.began(peerOf(first))();
    const late = await connect();
    expect([busy, first, second, late].map(({ destroyed }) => destroyed)).toEqual([false, false, true, false]);
    // A stranger gives way before the next one with a good token does.
    await connect();
    expect([busy, first, late].map(({ destroyed }) => destroyed)).toEqual([false, false, true]);
    expect(closed).toEqual(['max_connections', 'max_connections']);
  });

  it('P-18 closes the oldest connection of an address that shows too many without a good token', async () => {
    limit({ maxUnverifiedPerAddress: 2 });
    const other = await connect('127.0.0.2');
    const [first, second, third] = [await connect(), await connect(), await connect()];
    expect([first, second, third, other].map(({ destroyed }) => destroyed)).toEqual([true, false, false, false]);
    expect(closed).toEqual(['max_unverified_per_address']);
  });

  it('P-18 no longer counts a connection with a good token for its address, so that one proxy may bring many', async () => {
    limit({ maxUnverifiedPerAddress: 1 });
    const through: net.Socket[] = [];
    for (let each = 0; each < 5; each += 1) {
      const socket = await connect();
      connections.verified(peerOf(socket));
      through.push(socket);
    }
    expect(through.filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  it('P-18 makes room for a new connection by the oldest without a good token, and refuses the new one where all have one and a request', async () => {
    limit({ maxConnections: 2 });
    const [verified, stranger] = [await connect(), await connect()];
    connections.verified(peerOf(verified));
    const second = await connect();
    expect([verified.destroyed, stranger.destroyed, second.destroyed]).toEqual([false, true, false]);
    connections.verified(peerOf(second));
    for (const socket of [verified, second]) connections.began(peerOf(socket));
    const third = await connect();
    expect([verified.destroyed, second.destroyed, third.destroyed]).toEqual([false, false, true]);
    expect(closed).toEqual(['max_connections', 'max_connections']);
    verified.destroy();
    await once(verified, 'close');
    expect((await connect()).destroyed).toBe(false);
  });

  it('P-18 forgets who has gone: a place comes back at once', async () => {
    limit({ maxConnections: 1 });
    for (let each = 0; each < 3; each += 1) {
      const socket = await connect();
      clients.at(-1)?.destroy();
      await until('it is gone', () => socket.destroyed);
    }
    expect((await connect()).destroyed).toBe(false);
    expect(closed).toEqual([]);
  });

  it('P-18 gives the descriptor of a stranger to somebody else, and of nobody with a good token', async () => {
    const [verified, first, second] = [await connect(), await connect(), await connect()];
    connections.verified(peerOf(verified));
    expect([connections.replaceStranger(), first.destroyed, second.destroyed]).toEqual([true, true, false]);
    expect([connections.replaceStranger(), connections.replaceStranger(), verified.destroyed]).toEqual([true, false, false]);
  });
});
