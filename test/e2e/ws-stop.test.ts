// Stopping the server while calls run over WebSocket: nobody new gets in, and nobody is left without a word.
import { once } from 'node:events';
import net from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { dataSource, RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import {
  connectSocket,
  SocketCaller,
  socketDataSource,
  socketKeys,
  socketToken,
  upgradeRequest,
  WITH_SOCKETS,
} from '../support/socket-peer.ts';
import { until, within } from '../support/until.ts';

async function serverFor(...flags: readonly string[]): Promise<RunningServer> {
  const server = await RunningServer.start({
    hasTls: false,
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
    flags: [...WITH_SOCKETS, ...WITH_TEST_BOTS, ...flags],
  });
  onTestFinished(() => server.close());
  await server.app.warmed;
  return server;
}

describe('a server that stops', () => {
  it('P-09 refuses upgrades and lets a running call come to its end', async () => {
    const server = await serverFor('--shutdown.grace_ms=60000');
    const caller = await SocketCaller.start(server);
    const early = await connectSocket(server);
    await caller.replied(1);
    const stopped = server.app.close();
    await expect(connectSocket(server)).rejects.toThrow('refused with 503');
    expect(await server.metric('parley_streams_refused_total{code="shutting_down",transport="websocket"}')).toBe(1);
    // Somebody who was let in before, and calls now, is transferred.
    const late = new SocketCaller(early, server.issuer.claims.organizationId);
    late.say({ event_input: { event_type: 'SESSION_START' } });
    expect(await late.replied(1)).toMatchObject({ output_events: [{ event_type: 'TRANSFER_TO_AGENT' }] });
    late.peer.socket.close();
    caller.say(socketKeys('ZERO'));
    await caller.replied(2);
    caller.say(socketKeys('TWO'));
    expect(await caller.replied(3)).toMatchObject({ output_events: [{ event_type: 'SESSION_END' }] });
    caller.peer.socket.close(1000);
    const startedMs = systemClock.monotonicMs();
    await stopped;
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(20_000);
  });

  it('W-44 transfers the caller of a call that goes on, in words, and closes with 1001', async () => {
    const server = await serverFor('--shutdown.grace_ms=400');
    const caller = await SocketCaller.start(server);
    await caller.replied(1);
    const stopped = server.app.close();
    expect(await caller.peer.closed()).toEqual({ code: 1001, reason: '' });
    expect(await caller.replied(2)).toMatchObject({ output_events: [{ event_type: 'TRANSFER_TO_AGENT' }] });
    expect(caller.answers.at(-1)?.payload?.output_events).toHaveLength(1);
    await stopped;
  });

  it('gives calls over WebSocket the time that the operator grants them before the grace time', async () => {
    const server = await serverFor('--shutdown.grace_ms=100', '--websocket.drain_ms=60000');
    const caller = await SocketCaller.start(server);
    await caller.replied(1);
    const startedMs = systemClock.monotonicMs();
    const stopped = server.app.close();
    await until('the grace time would be over', () => systemClock.monotonicMs() - startedMs > 1500);
    caller.say(socketKeys('ZERO'));
    await caller.replied(2);
    caller.say(socketKeys('TWO'));
    await caller.replied(3);
    expect(caller.finals.map(({ output_events: [event] = [] }) => event?.event_type)).toEqual([undefined, undefined, 'SESSION_END']);
    caller.peer.socket.close(1000);
    await stopped;
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(30_000);
  });

  it('grants no more than that', async () => {
    const server = await serverFor('--shutdown.grace_ms=100', '--websocket.drain_ms=300');
    const caller = await SocketCaller.start(server);
    await caller.replied(1);
    const stopped = server.app.close();
    expect(await caller.peer.closed()).toEqual({ code: 1001, reason: '' });
    expect(await caller.replied(2)).toMatchObject({ output_events: [{ event_type: 'TRANSFER_TO_AGENT' }] });
    await stopped;
  });

  it('W-44 closes sockets on which nobody calls or asks with 1001', async () => {
    const server = await serverFor('--websocket.list_idle_ms=60000', '--websocket.first_message_timeout_ms=60000');
    const peers = [await connectSocket(server), await connectSocket(server, '/v1/listVirtualAgents')];
    const stopped = server.app.close();
    for (const peer of peers) expect(await peer.closed()).toEqual({ code: 1001, reason: '' });
    await stopped;
  });

  it('breaks the connections of clients that answer no close', async () => {
    const server = await serverFor('--websocket.list_idle_ms=60000');
    const socket = net.connect(server.app.ready.websocket?.port ?? 0, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(upgradeRequest('/v1/listVirtualAgents', { authorization: `Bearer ${await socketToken(server.issuer)}` }));
    const [answer] = (await within('an answer comes', once(socket, 'data'))) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 101 /u);
    const closed = once(socket, 'close');
    const startedMs = systemClock.monotonicMs();
    await server.app.close();
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(20_000);
    await within('the connection is broken', closed);
  });
});
