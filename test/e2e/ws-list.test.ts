// The list channel of the WebSocket transport: one question, one answer.
import { once } from 'node:events';
import net from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { dataSource, RunningServer } from '../support/running-server.ts';
import {
  connectSocket,
  socketDataSource,
  socketToken,
  textFrame,
  upgradeRequest,
  WITH_SOCKETS,
  type SocketPeer,
} from '../support/socket-peer.ts';
import { within } from '../support/until.ts';

const FOREIGN = '00000000-0000-4000-8000-000000000000';

async function serverFor(flags: readonly string[] = []): Promise<RunningServer> {
  const server = await RunningServer.start({
    hasTls: false,
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
    flags: [...WITH_SOCKETS, ...flags],
  });
  onTestFinished(() => server.close());
  return server;
}

function ask(server: RunningServer): Promise<SocketPeer> {
  return connectSocket(server, '/v1/listVirtualAgents');
}

/** What an ERROR message says, without its time. */
function errorMessage(code: string, status: number, detail: string): object {
  return {
    type: 'ERROR',
    seq: 1,
    ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u) as string,
    conversation_id: '',
    code,
    status,
    detail,
  };
}

describe('the list channel', () => {
  it('W-50 W-51 W-52 answers one bare question with the agents that gRPC lists, in its own words, and closes', async () => {
    const server = await serverFor();
    const peer = await ask(server);
    peer.say({ customer_org_id: server.issuer.claims.organizationId, is_default_virtual_agent_enabled: true });
    expect(await peer.closed()).toEqual({ code: 1000, reason: '' });
    const { virtual_agents: overGrpc = [] } = await (await server.client()).list();
    expect(overGrpc.length).toBeGreaterThan(1);
    expect(peer.messages).toEqual([
      { virtual_agents: overGrpc.map(({ virtual_agent_id: id, virtual_agent_name: name }) => ({ id, name })) },
    ]);
  });

  it('W-16 W-50 lets members pass that it does not know, and wants no more than the organization', async () => {
    const server = await serverFor();
    const { organizationId } = server.issuer.claims;
    for (const question of [{ customer_org_id: organizationId }, { customer_org_id: organizationId, metadata: [], more: { x: 1 } }]) {
      const peer = await ask(server);
      peer.say(question);
      expect(await peer.closed()).toMatchObject({ code: 1000 });
      expect(peer.messages).toHaveLength(1);
    }
  });

  it('G-08 W-50 takes an empty organization for that of the token', async () => {
    const peer = await ask(await serverFor());
    peer.say({ customer_org_id: '' });
    expect(await peer.closed()).toMatchObject({ code: 1000 });
    expect(peer.messages).toHaveLength(1);
  });

  it('W-50 answers the first question and no other', async () => {
    const server = await serverFor();
    const peer = await ask(server);
    for (let count = 0; count < 20; count++) peer.say({ customer_org_id: server.issuer.claims.organizationId });
    expect(await peer.closed()).toMatchObject({ code: 1000 });
    expect(peer.messages).toHaveLength(1);
  });

  it('W-53 refuses an organization that the token does not speak for, and names no agents to it', async () => {
    const server = await serverFor();
    const peer = await ask(server);
    peer.say({ customer_org_id: FOREIGN });
    expect(await peer.closed()).toMatchObject({ code: 1008 });
    expect(peer.messages).toEqual([
      errorMessage('unauthorized', 401, 'the message names an organization that its token does not speak for'),
    ]);
    expect(await server.metric('parley_organizations_refused_total{transport="websocket"}')).toBe(1);
    expect(await server.metric('parley_streams_refused_total{code="foreign_organization",transport="websocket"}')).toBe(1);
  });

  it.each<readonly [what: string, message: string | Buffer, error: object, code: number]>([
    ['no JSON', 'CANARY', errorMessage('bad_request', 400, 'the message is not JSON'), 1002],
    ['no organization', '{"CANARY":1}', errorMessage('bad_request', 400, 'the message breaks the contract at customer_org_id'), 1002],
    ['a list', '[]', errorMessage('bad_request', 400, 'the message breaks the contract at its top level'), 1002],
    ['binary', Buffer.from('{"customer_org_id":"x"}'), errorMessage('unsupported_media', 415, 'the message is binary'), 1003],
  ])('W-43 W-44 W-46 answers a question that is %s with an error and closes', async (_what, message, error, code) => {
    const server = await serverFor();
    const peer = await ask(server);
    peer.socket.send(message);
    expect(await peer.closed()).toMatchObject({ code });
    expect(peer.messages).toEqual([error]);
    expect(JSON.stringify(server.log)).not.toContain('CANARY');
  });

  it('W-45 closes a socket on which no question comes, without a word', async () => {
    const server = await serverFor(['--websocket.list_idle_ms=300']);
    const peer = await ask(server);
    const startedMs = systemClock.monotonicMs();
    expect(await peer.closed()).toEqual({ code: 1008, reason: '' });
    expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(200);
    expect(peer.messages).toEqual([]);
    expect(await server.metric('parley_streams_refused_total{code="turn_timeout",transport="websocket"}')).toBe(1);
  });

  it('W-45 closes at a question that is larger than a message may be', async () => {
    const server = await serverFor(['--websocket.max_message_bytes=98304']);
    const peer = await ask(server);
    peer.say({ customer_org_id: 'x'.repeat(98_304) });
    expect(await peer.closed()).toMatchObject({ code: 1009 });
    expect(peer.messages).toEqual([]);
    expect(server.logged({ msg: 'a list socket was refused: a message was larger than it may be; closed with 1009' })).toHaveLength(1);
    expect(await server.metric('parley_streams_refused_total{code="bad_message",transport="websocket"}')).toBe(1);
  });

  it('breaks the connection of a client that does not answer the close', async () => {
    const server = await serverFor(['--websocket.peer_close_ms=200']);
    const socket = net.connect(server.app.ready.websocket?.port ?? 0, '127.0.0.1');
    const heard: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => heard.push(chunk));
    socket.on('error', () => undefined);
    socket.write(upgradeRequest('/v1/listVirtualAgents', { authorization: `Bearer ${await socketToken(server.issuer)}` }));
    socket.write(textFrame(JSON.stringify({ customer_org_id: server.issuer.claims.organizationId })));
    await within('the server breaks the connection', once(socket, 'close'));
    // The answer, and behind it the close with 1000.
    expect(Buffer.concat(heard).toString('latin1')).toMatch(/"virtual_agents":.*\x88\x02\x03\xe8$/su);
  });
});
