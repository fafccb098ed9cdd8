// Servers, and addresses without one, that a call over WebSocket cannot be held with: each ends with a named finding in time.
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { placeCall, type CallOptions, type CallResult } from '../../../../src/fake-platform/caller.ts';
import { openConnection } from '../../../../src/fake-platform/open-connection.ts';
import { parseTarget } from '../../../../src/fake-platform/target.ts';
import { testCertificate } from '../../../support/certificate.ts';
import { CountedClock } from '../../../support/counted-clock.ts';
import {
  startScriptedSocketServer,
  welcome,
  type ScriptedSocket,
  type ScriptedSocketServer,
  type SocketServerOptions,
} from '../../../support/scripted-socket-server.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function started(options: SocketServerOptions): Promise<ScriptedSocketServer> {
  const server = await startScriptedSocketServer(options);
  closers.push(server.close);
  return server;
}

/** Calls an address; afterwards no timer is left. */
async function call(target: string, more: Partial<CallOptions> = {}): Promise<CallResult> {
  const clock = new CountedClock(scaledClock(10));
  const result = await placeCall({
    target,
    profile: loadProfile('fake'),
    organizationId: 'o-1',
    conversationId: 'conversation-1',
    clock,
    ...more,
    limits: { connectMs: 60_000, answerMs: 60_000, callMs: 200_000, hangUpMs: 60_000, ...more.limits },
  });
  expect(clock.pendingTimers).toBe(0);
  return result;
}

/** The one fatal finding of a call that failed. */
function failureOfCall(result: CallResult): { readonly code: string; readonly message: string } {
  expect(result).toMatchObject({ ok: false, outcome: 'failed' });
  const [fatal, ...more] = result.findings.filter((finding) => finding.fatal);
  expect(more).toEqual([]);
  expect(fatal?.message).not.toContain('\n');
  return { code: fatal?.code ?? '', message: fatal?.message ?? '' };
}

async function listen(server: NetServer): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  // A server that listens on TCP has an address of this shape.
  return `ws://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

describe('an address without a WebSocket', () => {
  it('is refused when nothing listens', async () => {
    const server = createServer();
    const address = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(failureOfCall(await call(address)).code).toBe('refused');
  });

  it('is unknown when the name has no address', async () => {
    expect(failureOfCall(await call('ws://nobody.invalid:8088')).code).toBe('host_unknown');
  });

  it('times out when it accepts and says nothing', async () => {
    const address = await listen(createServer());
    expect(failureOfCall(await call(address, { limits: { connectMs: 2000 } })).code).toBe('connect_timeout');
  });

  it('closes early when it hangs up at once', async () => {
    const address = await listen(createServer((socket) => socket.destroy()));
    expect(failureOfCall(await call(address)).code).toBe('closed_early');
  });

  it('speaks garbage when it is something else', async () => {
    const noise = await listen(createServer((socket) => socket.write('SSH-2.0-OpenSSH_9.2p1\r\n'.repeat(10))));
    expect(failureOfCall(await call(noise)).code).toBe('garbage');
  });

  it.each([
    [401, 'unauthenticated'],
    [403, 'forbidden'],
    [404, 'not_served'],
    [429, 'overloaded'],
    [503, 'overloaded'],
    [200, 'garbage'],
  ])('W-06, W-07 answers the upgrade with %i: %s', async (status, code) => {
    const { target } = await started({ refuse: status });
    const failure = failureOfCall(await call(target));
    expect(failure).toEqual({ code, message: expect.stringContaining(`HTTP status ${String(status)}`) as string });
  });

  it('is not waited for when the call is given up', async () => {
    const address = await listen(createServer());
    const stop = new AbortController();
    const placed = call(address, { signal: stop.signal });
    stop.abort();
    expect(await placed).toMatchObject({ outcome: 'interrupted' });
  });
});

describe('TLS', () => {
  it('holds a call by name, by address and under another name of the certificate', async () => {
    const tls = await testCertificate();
    const { port } = await started({ tls, script: (socket) => welcome(socket) });
    closers.push(tls.remove);
    const certificateAuthority = Buffer.from(tls.certificatePem);
    expect((await call(`wss://localhost:${String(port)}`, { certificateAuthority })).outcome).toBe('hung_up');
    expect((await call(`wss://127.0.0.1:${String(port)}`, { certificateAuthority, serverName: 'localhost' })).outcome).toBe('hung_up');
    const lost = await call(`wss://localhost:${String(port)}`, {
      certificateAuthority,
      script: [{ kind: 'wait', waitMs: 9000 }],
      conditions: { loseAfterMs: 500 },
    });
    expect(lost).toMatchObject({ outcome: 'lost', findings: [] });
  });

  it('fails with an authority that is not trusted, a name that is not there, and a server without TLS', async () => {
    const tls = await testCertificate();
    const { port } = await started({ tls });
    const plain = await started({});
    closers.push(tls.remove);
    const certificateAuthority = Buffer.from(tls.certificatePem);
    expect(failureOfCall(await call(`wss://localhost:${String(port)}`)).code).toBe('tls_failed');
    const other = await call(`wss://localhost:${String(port)}`, { certificateAuthority, serverName: 'other.example' });
    expect(failureOfCall(other).code).toBe('tls_failed');
    expect(failureOfCall(await call(`wss://localhost:${String(plain.port)}`, { certificateAuthority })).code).toBe('tls_failed');
  });
});

describe('a socket that breaks in the middle of a call', () => {
  /** How a call fails on which the server does this after the welcome. */
  async function broken(act: (socket: ScriptedSocket) => void): Promise<{ readonly code: string; readonly message: string }> {
    const { target } = await started({
      script: async (socket) => {
        await welcome(socket);
        await socket.next('silence');
        act(socket);
      },
    });
    return failureOfCall(await call(target, { script: [{ kind: 'wait', waitMs: 60_000 }], noInputMs: 0 }));
  }

  it.each([
    [1000, 'closed_early'],
    [1001, 'closed_early'],
    [1002, 'rpc_failed'],
    [1008, 'rpc_failed'],
    [1011, 'rpc_failed'],
    [1013, 'overloaded'],
  ])('W-44 is closed with %i: %s', async (closeCode, code) => {
    const failure = await broken((socket) => {
      socket.close(closeCode, 'the reason');
    });
    expect(failure).toEqual({ code, message: expect.stringContaining(`close code ${String(closeCode)}: the reason`) as string });
  });

  it('W-2A is dropped without a word', async () => {
    const failure = await broken((socket) => {
      socket.drop();
    });
    expect(failure.code).toBe('closed_early');
  });

  it.each([
    ['unauthorized', 401, 'unauthenticated'],
    ['unauthorized', 403, 'forbidden'],
    ['bad_request', 404, 'agent_unknown'],
    ['bad_request', 400, 'rpc_failed'],
    ['unsupported_media', 415, 'rpc_failed'],
    ['upstream_error', 502, 'rpc_failed'],
    ['rate_limit', 429, 'overloaded'],
    ['timeout', 408, 'rpc_failed'],
    ['toString', 500, 'rpc_failed'],
  ])('W-43, W-46 is told ERROR %s %i before it is closed: %s', async (error, status, code) => {
    const failure = await broken((socket) => {
      socket.tell('ERROR', { code: error, status, detail: 'in\nwords' });
      socket.close(1008);
    });
    expect(failure).toEqual({ code, message: expect.stringContaining(`(ERROR ${error} ${String(status)}: in words)`) as string });
  });

  it.each<[string, string | Buffer]>([
    ['no JSON', '{'],
    ['JSON of something else', '[1]'],
    [
      'an envelope of another type',
      JSON.stringify({ type: 'HELLO', seq: 3, ts: '2026-01-01T00:00:00Z', conversation_id: 'conversation-1' }),
    ],
    ['a binary message (W-0A)', Buffer.from('{}')],
    [
      'audio that is no Base64',
      JSON.stringify({
        type: 'VOICE_VA_RESPONSE',
        seq: 3,
        ts: '2026-01-01T00:00:00Z',
        conversation_id: 'conversation-1',
        payload: { response_type: 'CHUNK', prompts: [{ audio_content_b64: '%%%%' }] },
      }),
    ],
  ])('carries %s: garbage', async (_, message) => {
    const failure = await broken((socket) => {
      socket.raw(message);
    });
    expect(failure.code).toBe('garbage');
  });

  it('is not answered at all: the call ends after the answer limit, and the server is told', async () => {
    const { target, sockets } = await started({});
    expect(failureOfCall(await call(target, { limits: { answerMs: 3000 } })).code).toBe('no_answer');
    expect(sockets[0]?.received.map(({ name }) => name)).toContain('SESSION_END');
  });
});

describe('the list of agents', () => {
  const ANSWER = { virtual_agents: [{ id: 'echo', name: 'Echo', description: 'says it again' }] };

  async function asked(options: SocketServerOptions, signal?: AbortSignal): ReturnType<ReturnType<typeof openConnection>['listAgents']> {
    const { target } = await started(options);
    const clock = new CountedClock(scaledClock(10));
    const connection = openConnection({
      target: parseTarget(target),
      profile: loadProfile('fake'),
      clock,
      connectLimitMs: 20_000,
      token: 'a.b.c',
    });
    const answer = await connection.listAgents('o-1', 5000, signal);
    await connection.close();
    expect(clock.pendingTimers).toBe(0);
    return answer;
  }

  it('W-50, W-51, W-52 is asked for with one bare object on its own path and with the token', async () => {
    const seen: string[] = [];
    const agents = await asked({
      prefix: '/voice',
      list: (socket, { url, headers }) => {
        seen.push(url ?? '', headers.authorization ?? '');
        socket.once('message', (data: Buffer) => {
          seen.push(data.toString());
          socket.send(JSON.stringify(ANSWER));
          socket.close(1000);
        });
      },
    });
    expect(agents).toEqual([{ id: 'echo', name: 'Echo', isDefault: false }]);
    expect(seen).toEqual([
      '/voice/v1/listVirtualAgents',
      'Bearer a.b.c',
      '{"customer_org_id":"o-1","is_default_virtual_agent_enabled":true}',
    ]);
  });

  it('W-51 is taken from a server that leaves the socket open', async () => {
    const agents = await asked({
      list: (socket) => {
        socket.send(JSON.stringify({ virtual_agents: [] }));
      },
    });
    expect(agents).toEqual([]);
  });

  it.each<[string, string, SocketServerOptions]>([
    ['an upgrade that is refused (W-06)', 'unauthenticated', { refuse: 401 }],
    [
      'another organization (W-53)',
      'unauthenticated',
      {
        list: (socket) => {
          socket.send(
            JSON.stringify({ type: 'ERROR', seq: 1, ts: '2026-01-01T00:00:00Z', conversation_id: '', code: 'unauthorized', status: 401 }),
          );
        },
      },
    ],
    [
      'something that is no list',
      'garbage',
      {
        list: (socket) => {
          socket.send('{}');
        },
      },
    ],
    [
      'a close without a word',
      'closed_early',
      {
        list: (socket) => {
          socket.close(1000);
        },
      },
    ],
    ['no answer', 'no_answer', {}],
  ])('names %s as %s', async (_, code, options) => {
    expect(await asked(options)).toMatchObject({ code });
  });

  it('is not waited for longer than anybody waits', async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await asked({}, stop.signal)).toMatchObject({ code: 'no_answer' });
  });
});
