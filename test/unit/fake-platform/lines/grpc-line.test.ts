import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { GrpcConnection, type GrpcLineOptions } from '../../../../src/fake-platform/lines/grpc-line.ts';
import { parseTarget } from '../../../../src/fake-platform/lines/target.ts';
import { callScripted, wavReply } from '../../../support/call-lab.ts';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { startScriptedServer, type ScriptedServer, type TurnScript } from '../../../support/scripted-server.ts';

const welcome: TurnScript = async (turn) => {
  await turn.halfClosed();
  if (turn.number === 1) turn.send(wavReply(100));
  turn.complete();
};

describe('the metadata of a call', () => {
  it('carries the token alone and the conversation id as correlation id, on every RPC', async () => {
    const { server } = await callScripted(welcome, { token: 'a.b.c' });
    expect(server.turns.length).toBeGreaterThan(1);
    for (const { metadata } of server.turns) {
      expect(metadata.get('authorization')).toEqual(['a.b.c']);
      expect(metadata.get('trackingid')).toEqual(['conversation-1']);
    }
  });

  it('G-03 can carry the token as Bearer', async () => {
    const { server } = await callScripted(welcome, { token: 'a.b.c', bearer: true });
    expect(server.turns[0]?.metadata.get('authorization')).toEqual(['Bearer a.b.c']);
  });

  it('carries no authorization without a token', async () => {
    const { server } = await callScripted(welcome);
    expect(server.turns[0]?.metadata.get('authorization')).toEqual([]);
  });
});

describe('the texts in the trailers', () => {
  it.each([
    ['no JSON', Buffer.from('{')],
    ['no list', Buffer.from('{"a":1}')],
    ['a list of something else', Buffer.from('[1,null]')],
  ])('are ignored when they are %s', async (_, trailer) => {
    const { result } = await callScripted(async (turn) => {
      await turn.halfClosed();
      if (turn.number === 1) turn.send(wavReply(100));
      turn.complete({ 'parley-prompt-text-bin': trailer });
    });
    expect(result).toMatchObject({ outcome: 'hung_up', heardTexts: [] });
  });
});

describe('questions that are answered once', () => {
  const opened: { close(): void }[] = [];

  afterEach(() => {
    for (const one of opened.splice(0)) one.close();
  });

  async function server(agents = {}): Promise<ScriptedServer> {
    const started = await startScriptedServer({ script: welcome, agents });
    opened.push(started);
    return started;
  }

  function connection(target: string, more: Partial<GrpcLineOptions> = {}): GrpcConnection {
    const made = new GrpcConnection({
      target: parseTarget(target),
      profile: loadProfile('fake'),
      clock: scaledClock(10),
      connectLimitMs: 20_000,
      ...more,
    });
    opened.push(made);
    return made;
  }

  it('G-05 gives the agents as the server names them', async () => {
    const { target } = await server({
      virtual_agents: [{ virtual_agent_id: 'echo', virtual_agent_name: 'Echo', is_default: true }, { virtual_agent_id: 'x' }],
    });
    expect(await connection(target).listAgents('o-1', 60_000)).toEqual([
      { id: 'echo', name: 'Echo', isDefault: true },
      { id: 'x', name: '', isDefault: false },
    ]);
  });

  it('G-05 takes an empty list', async () => {
    const { target } = await server();
    expect(await connection(target).listAgents('o-1', 60_000)).toEqual([]);
  });

  it('names the failure when there is no answer', async () => {
    const gone = await server();
    gone.close();
    expect(await connection(gone.target).listAgents('o-1', 60_000)).toMatchObject({ code: 'refused' });
  });

  it('get the whole time for a new connection when the first is gone', async () => {
    const { target } = await server();
    const clock = new FakeClock();
    const used = connection(target, { clock, connectLimitMs: 5000 });
    await used.connect();
    used.line({ conversationId: 'c-1', organizationId: 'o-1', agentId: '', vendorConfig: '', allowPartial: false }).break?.();
    expect(await used.listAgents('o-1', 60_000)).toMatchObject({ code: 'closed_early' });
    clock.advance(6000);
    const asked = used.listAgents('o-1', 60_000);
    clock.advance(4999);
    expect(await asked).toEqual([]);
  });

  it('are not waited for longer than anybody waits', async () => {
    const waiting = createServer();
    opened.push(waiting);
    waiting.listen(0, '127.0.0.1');
    await once(waiting, 'listening');
    const { port } = waiting.address() as AddressInfo;
    const stop = new AbortController();
    const asked = connection(`grpc://127.0.0.1:${String(port)}`).checkHealth(60_000, stop.signal);
    stop.abort();
    expect(await asked).toMatchObject({ code: 'no_answer' });
    expect(await connection(`grpc://127.0.0.1:${String(port)}`).listAgents('o-1', 60_000, stop.signal)).toMatchObject({
      code: 'no_answer',
    });
  });

  it('are given up when a server takes the question and never answers', async () => {
    const server = createHttp2Server();
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.push(server);
    const { port } = server.address() as AddressInfo;
    const asked = connection(`grpc://127.0.0.1:${String(port)}`);
    expect(await asked.listAgents('o-1', 2000)).toMatchObject({
      code: 'no_answer',
      message: expect.stringContaining('within 2000 ms') as string,
    });
    await asked.close();
  });

  it('name a health service that is not there as a failure (U-01)', async () => {
    const { target } = await server();
    expect(await connection(target).checkHealth(60_000)).toMatchObject({ code: 'not_served' });
  });
});
