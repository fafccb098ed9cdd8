// Protocol pings: whoever is there stays, whoever is gone is found out.
import { describe, expect, it, onTestFinished } from 'vitest';
import { dataSource, RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import {
  connectSocket,
  SocketCaller,
  socketDataSource,
  socketEvent,
  socketOrigin,
  SocketPeer,
  socketToken,
  WITH_SOCKETS,
} from '../support/socket-peer.ts';
import { until, within } from '../support/until.ts';

const UNANSWERED = 'parley_streams_refused_total{code="turn_timeout",transport="websocket"}';

async function serverFor(...flags: readonly string[]): Promise<RunningServer> {
  const server = await RunningServer.start({
    hasTls: false,
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
    flags: [...WITH_SOCKETS, ...WITH_TEST_BOTS, ...flags],
  });
  onTestFinished(() => server.close());
  return server;
}

describe('a socket', () => {
  it('W-42 is pinged again and again, and stays while it answers', async () => {
    const server = await serverFor('--websocket.ping_interval_ms=100', '--websocket.pong_timeout_ms=10000');
    const caller = await SocketCaller.start(server);
    let pings = 0;
    caller.peer.socket.on('ping', () => (pings += 1));
    await until('five pings came', () => pings >= 5);
    await caller.replied(1);
    expect(caller.peer.socket.readyState).toBe(caller.peer.socket.OPEN);
    expect(server.app.openSessions()).toBe(1);
    // None of them is a message of the contract.
    expect(caller.answers.map(({ type }) => type)).not.toContain('PING');
    caller.peer.socket.close();
    await server.quiet();
  });

  it('W-42 W-2A that answers no ping is terminated, its call ends, and the others go on', async () => {
    const server = await serverFor('--websocket.ping_interval_ms=200', '--websocket.pong_timeout_ms=400');
    const headers = { authorization: `Bearer ${await socketToken(server.issuer)}` };
    const deaf = await SocketPeer.connect(`${socketOrigin(server)}/v1/va`, { headers, autoPong: false });
    const alive = await SocketCaller.start(server);
    const lost = new SocketCaller(deaf, server.issuer.claims.organizationId);
    lost.say(socketEvent('SESSION_START'));
    await Promise.all([lost.replied(1), alive.replied(1)]);
    expect(await deaf.closed()).toEqual({ code: 1006, reason: '' });
    await until('one call is left', () => server.app.openSessions() === 1);
    const text = 'a socket was refused: it answered no ping';
    expect(server.logged({ level: 'warn', msg: text })).toMatchObject([{ code: 'turn_timeout', conversationId: lost.conversationId }]);
    expect(await server.metric(UNANSWERED)).toBe(1);
    expect(alive.peer.socket.readyState).toBe(alive.peer.socket.OPEN);
    alive.peer.socket.close();
    await server.quiet();
  });

  it('W-42 of the list channel is pinged, too', async () => {
    const server = await serverFor('--websocket.ping_interval_ms=100', '--websocket.list_idle_ms=60000');
    const peer = await connectSocket(server, '/v1/listVirtualAgents');
    let pings = 0;
    peer.socket.on('ping', () => (pings += 1));
    await until('two pings came', () => pings >= 2);
    peer.socket.close();
  });

  it('W-42 of the list channel that answers no ping is terminated, and counted', async () => {
    const server = await serverFor('--websocket.ping_interval_ms=200', '--websocket.pong_timeout_ms=400', '--websocket.list_idle_ms=60000');
    const headers = { authorization: `Bearer ${await socketToken(server.issuer)}` };
    const deaf = await SocketPeer.connect(`${socketOrigin(server)}/v1/listVirtualAgents`, { headers, autoPong: false });
    expect(await deaf.closed()).toEqual({ code: 1006, reason: '' });
    expect(server.logged({ level: 'warn', msg: 'a list socket was refused: it answered no ping' })).toHaveLength(1);
    expect(await server.metric(UNANSWERED)).toBe(1);
  });

  it('W-42 that pings the server gets an answer of the protocol', async () => {
    const server = await serverFor();
    const peer = await connectSocket(server);
    const answered = new Promise<string>((resolve) => {
      peer.socket.once('pong', (data) => {
        resolve(data.toString());
      });
    });
    peer.socket.ping('are you there');
    expect(await within('the answer comes', answered)).toBe('are you there');
    peer.socket.close();
  });
});
