// Servers, and addresses without one, that a call over WebSocket cannot be held with: each ends with a named finding in time.
import { readFileSync } from 'node:fs';
import { createSecureServer as createSecureHttp2Server, createServer as createHttp2Server } from 'node:http2';
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../../src/contract/profile.ts';
import type { CallOptions, CallResult } from '../../../../../src/fake-platform/caller/caller.ts';
import { SocketClient } from '../../../../../src/fake-platform/lines/socket/socket-client.ts';
import { SocketLine } from '../../../../../src/fake-platform/lines/socket/socket-line.ts';
import { parseTarget } from '../../../../../src/fake-platform/lines/target.ts';
import { testCertificate } from '../../../../support/certificate.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { freePort } from '../../../../support/free-port.ts';
import { patientCall } from '../../../../support/patient-call.ts';
import {
  chunk,
  ending,
  startScriptedSocketServer,
  welcome,
  type ScriptedSocket,
  type ScriptedSocketServer,
  type SocketServerOptions,
} from '../../../../support/scripted-socket-server.ts';
import { until } from '../../../../support/until.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function started(options: SocketServerOptions): Promise<ScriptedSocketServer> {
  const server = await startScriptedSocketServer(options);
  closers.push(() => {
    server.close();
  });
  return server;
}

/** {@link patientCall} of a conversation that is known. */
function call(target: string, more: Partial<CallOptions> = {}): Promise<CallResult> {
  return patientCall(target, { conversationId: 'conversation-1', ...more });
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
    expect(failureOfCall(await call(`ws://127.0.0.1:${String(await freePort())}`)).code).toBe('refused');
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

describe('the failures that an operator reads', () => {
  it('W-06 of a token that was not given, and of one that is refused', async () => {
    const { target } = await started({ refuse: 401 });
    expect(failureOfCall(await call(target)).message).toBe('the server asks for a token, and none was given (HTTP status 401)');
    expect(failureOfCall(await call(target, { token: 'a.b.c' })).message).toBe('the server refused the token (HTTP status 401)');
  });

  it('W-02, W-07 of a path that is not there, and that a prefix can stand behind the address', async () => {
    const { target } = await started({ refuse: 404, prefix: '/voice' });
    const { message } = failureOfCall(await call(target));
    expect(message).toContain('does not serve /voice/v1/va; ');
    expect(message).toContain('wss://host/prefix');
  });

  it('of a server that takes no calls, be it full or about to stop', async () => {
    const { target } = await started({ refuse: 503 });
    expect(failureOfCall(await call(target)).message).toBe('the server has no room for this call, or is stopping (HTTP status 503)');
  });

  it.each([301, 502, 504])('of something before the server that answers with %i', async (status) => {
    const { target } = await started({ refuse: status });
    expect(failureOfCall(await call(target)).message).toContain('something before the server answered');
  });

  it('of a scheme that is not the one of the port', async () => {
    const tls = await testCertificate();
    closers.push(() => {
      tls.remove();
    });
    const secure = await started({ tls });
    const plain = await started({});
    // What a server of TLS says to somebody who does not speak it: an alert.
    const alerting = await listen(createServer((socket) => socket.once('data', () => socket.end(Buffer.from('15030100020246', 'hex')))));
    expect(failureOfCall(await call(alerting)).message).toBe('the server speaks TLS; use wss://');
    const certificateAuthority = Buffer.from(tls.certificatePem);
    const noTls = failureOfCall(await call(`wss://localhost:${String(plain.port)}`, { certificateAuthority }));
    expect(noTls).toEqual({ code: 'tls_failed', message: 'the server speaks no TLS; use ws://' });
    expect(failureOfCall(await call(`ws://localhost:${String(secure.port)}`)).message).not.toContain('openssl');
  });

  it('of a port that serves gRPC', async () => {
    const tls = await testCertificate();
    closers.push(() => {
      tls.remove();
    });
    const plain = createHttp2Server();
    const address = await listen(plain);
    expect(failureOfCall(await call(address)).message).toContain('use grpc://');
    const secure = createSecureHttp2Server({ cert: tls.certificatePem, key: readFileSync(tls.keyFile) });
    const { port } = new URL(await listen(secure));
    const certificateAuthority = Buffer.from(tls.certificatePem);
    expect(failureOfCall(await call(`wss://localhost:${port}`, { certificateAuthority })).message).toContain('use grpcs://');
  });
});

describe('closing', () => {
  it('gives the server its time once, however often it is asked for', async () => {
    const clock = new FakeClock();
    const { target } = await started({
      // Nothing is read any more, the close included.
      script: ({ request }) => {
        request.socket.pause();
      },
    });
    const closes: number[] = [];
    const client = new SocketClient({ target: parseTarget(target), profile: loadProfile('fake'), clock, connectLimitMs: 5000 }, '/v1/va', {
      opened: () => undefined,
      received: () => undefined,
      closed: (closeCode) => closes.push(closeCode),
    });
    await client.settled;
    const closed = client.close();
    clock.advance(3000);
    void client.close();
    clock.advance(2000);
    await closed;
    expect(closes).toEqual([1006]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('TLS', () => {
  it('names no server in the handshake with an address, and checks the certificate all the same', async () => {
    const tls = await testCertificate();
    closers.push(() => {
      tls.remove();
    });
    const names: string[] = [];
    const server = createTlsServer({
      cert: tls.certificatePem,
      key: readFileSync(tls.keyFile),
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    });
    const { port } = new URL(await listen(server));
    const certificateAuthority = Buffer.from(tls.certificatePem);
    const byAddress = failureOfCall(await call(`wss://127.0.0.1:${port}`, { certificateAuthority, serverName: '127.0.0.2' }));
    expect(byAddress).toMatchObject({ code: 'tls_failed', message: expect.stringContaining('127.0.0.2') as string });
    expect(names).toEqual([]);
  });

  it('holds a call by name, by address and under another name of the certificate', async () => {
    const tls = await testCertificate();
    const { port } = await started({ tls, script: (socket) => welcome(socket) });
    closers.push(() => {
      tls.remove();
    });
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
    closers.push(() => {
      tls.remove();
    });
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

  it('W-43 gets ERROR and a close: the loss is reported once', async () => {
    const clock = new FakeClock();
    const { target } = await started({
      script: async (socket) => {
        await socket.next('SESSION_START');
        socket.tell('ERROR', { code: 'upstream_error', status: 502 });
      },
    });
    const options = { target: parseTarget(target), profile: loadProfile('fake'), clock, connectLimitMs: 5000 };
    const identity = { conversationId: 'conversation-1', agentId: '', organizationId: 'o-1', vendorConfig: '', allowPartial: false };
    const line = new SocketLine(options, identity);
    const told: string[] = [];
    line.watchEnd(({ code }) => told.push(code));
    line.open({ answered: () => undefined, ended: () => told.push('turn over') }).send({ kind: 'session_start', name: '', parameters: {} });
    await until('the turn is over', () => told.length > 0);
    await until('the socket is closed', () => clock.pendingTimers === 0);
    expect(told).toEqual(['turn over', 'rpc_failed']);
  });

  it.each<[string, (socket: ScriptedSocket) => void]>([
    [
      'W-2A is dropped',
      (socket) => {
        socket.drop();
      },
    ],
    [
      'W-43 is told ERROR',
      (socket) => {
        socket.tell('ERROR', { code: 'upstream_error', status: 502 });
      },
    ],
  ])('%s while a prompt plays that nobody may cut: the call ends at once', async (_, act) => {
    const { target } = await started({
      script: async (socket) => {
        await welcome(socket, 60_000);
        await socket.next('silence');
        act(socket);
      },
    });
    const result = await call(target);
    failureOfCall(result);
    expect(result.durationMs).toBeLessThan(30_000);
  });

  it('W-29, W-44 is closed after the farewell, which is heard to its end', async () => {
    const { target } = await started({
      script: async (socket) => {
        await socket.next('SESSION_START');
        socket.respond(chunk(2000));
        socket.respond(ending('SESSION_END'));
        socket.close(1001);
      },
    });
    const result = await call(target);
    expect(result).toMatchObject({ ok: true, outcome: 'ended', findings: [] });
    expect(result.durationMs).toBeGreaterThanOrEqual(2000);
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

  it('is not answered at all: the call ends after the answer limit, and the server gets the hang-up', async () => {
    const { target, sockets } = await started({});
    expect(failureOfCall(await call(target, { limits: { answerMs: 3000 } })).code).toBe('no_answer');
    expect(sockets[0]?.received.map(({ name }) => name)).toContain('SESSION_END');
  });
});
