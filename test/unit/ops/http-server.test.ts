import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Logger } from '../../../src/base/log.ts';
import { startOpsServer, type OpsServer } from '../../../src/ops/http-server.ts';
import { Readiness } from '../../../src/ops/readiness.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { until } from '../../support/until.ts';

const logged: string[] = [];
const note = (fields: object, message: string): void => {
  logged.push(`${message} ${JSON.stringify(fields)}`);
};
const log: Logger = { debug: note, info: note, warn: note, error: note, child: () => log };
/** What clients say that would rather speak HTTP/2, and go on without it when nobody answers that. */
const H2C = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA';

/** Nobody needs to sign in on loopback. */
const CONSOLE = { viewToken: undefined, listenToken: undefined, proxyKey: undefined, proxyHeader: 'x-parley-user', guardsMetrics: false };

let readiness: Readiness;
let metricsText: () => Promise<string>;
let server: OpsServer;

beforeEach(async () => {
  logged.length = 0;
  readiness = new Readiness();
  metricsText = () => Promise.resolve('parley_up 1\n');
  server = await startOpsServer({
    host: '127.0.0.1',
    port: 0,
    hostNames: ['ops.example'],
    serviceName: 'voice-1',
    console: CONSOLE,
    readiness,
    metrics: { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: () => metricsText() },
    calls: {
      recent: () => ({ calls: [callOf('conv 1', 'a'), callOf('conv 2', 'b')], refused: [{ organizationId: 'b' }] }),
      find: (id) => (id === 'conv 1' ? { conversationId: id, facts: [] } : undefined),
    },
    clock: new FakeClock(Date.UTC(2027, 0, 2, 3, 4, 5, 678)),
    log,
  });
});

afterEach(async () => {
  await server.close();
});

function callOf(conversationId: string, organizationId: string): { conversationId: string; organizationId: string } {
  return { conversationId, organizationId };
}

async function get(path: string, init?: RequestInit): Promise<{ status: number; type: string | null; body: string }> {
  const response = await fetch(`http://127.0.0.1:${String(server.port)}${path}`, init);
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
}

/** Sends raw bytes and collects what comes back until the server closes. */
async function raw(request: string, port = server.port): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  socket.end(request);
  await once(socket, 'close');
  return answer;
}

/** A server that shares its port with another protocol, and the connections that it has given away. */
async function startShared(): Promise<{ readonly shared: OpsServer; readonly taken: Duplex[] }> {
  const taken: Duplex[] = [];
  const shared = await startOpsServer({
    ...{ host: '127.0.0.1', port: 0, hostNames: ['h'], serviceName: 'voice-1', console: CONSOLE, readiness, clock: new FakeClock(), log },
    metrics: { contentType: 'text/plain', text: () => metricsText() },
    calls: { recent: () => ({ calls: [], refused: [] }), find: () => undefined },
    upgrades: { take: (_request, socket) => void taken.push(socket), maxConnections: 100 },
  });
  onTestFinished(async () => {
    for (const socket of taken) socket.destroy();
    await shared.close();
  });
  return { shared, taken };
}

async function openSocket(text: string): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

describe('the operations server', () => {
  it('P-10 is alive from the first moment, and ready only between start and drain', async () => {
    expect(await get('/health/live')).toMatchObject({ status: 200, body: '{"live":true}' });
    expect(await get('/health/ready')).toMatchObject({ status: 503, body: '{"ready":false,"reasons":["starting"]}' });
    readiness.started();
    expect(await get('/health/ready')).toMatchObject({ status: 200, body: '{"ready":true,"reasons":[]}' });
    readiness.drain();
    expect(await get('/health/ready')).toMatchObject({ status: 503, body: '{"ready":false,"reasons":["draining"]}' });
    expect(await get('/health/live')).toMatchObject({ status: 200 });
  });

  it('O-01 answers the platform’s ping in its shape, offline before the start', async () => {
    const offline = await get('/voice-1/v1/ping');
    expect(offline.status).toBe(503);
    expect(JSON.parse(offline.body)).toMatchObject({ serviceState: 'offline', message: 'voice-1 is OFFLINE' });
    readiness.started();
    const online = await get('/voice-1/v1/ping');
    expect(online.status).toBe(200);
    expect(JSON.parse(online.body)).toEqual({
      serviceName: 'voice-1',
      serviceType: 'REQUIRED',
      serviceState: 'online',
      message: 'voice-1 is ONLINE',
      lastUpdated: '2027-01-02T03:04:05.678Z',
    });
    expect((await get('/other/v1/ping')).status).toBe(404);
  });

  it('serves the metrics with their own content type', async () => {
    expect(await get('/metrics')).toEqual({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: 'parley_up 1\n' });
  });

  it('shows the latest calls, and one of them by its conversation id', async () => {
    const all = { calls: [callOf('conv 1', 'a'), callOf('conv 2', 'b')], refused: [{ organizationId: 'b' }] };
    expect(await get('/calls')).toMatchObject({ status: 200, body: JSON.stringify(all) });
    expect(await get('/calls/conv%201')).toMatchObject({ status: 200, body: '{"conversationId":"conv 1","facts":[]}' });
    expect(await get('/calls/CANARY')).toMatchObject({ status: 404, body: '{"error":"not found"}' });
  });

  it('shows the calls of one organization, and refuses every other parameter instead of showing all', async () => {
    const shown = async (parameters: string): Promise<unknown> => JSON.parse((await get(`/calls?${parameters}`)).body);
    expect(await shown('organizationId=b')).toEqual({ calls: [callOf('conv 2', 'b')], refused: [{ organizationId: 'b' }] });
    expect(await shown('organizationId=c')).toEqual({ calls: [], refused: [] });
    for (const wrong of ['organisationId=b', 'organizationId=b&limit=1', 'organizationId=a&organizationId=b']) {
      const { status, body } = await get(`/calls?${wrong}`);
      expect([status, body]).toEqual([400, '{"error":"the one parameter is organizationId, once"}']);
    }
  });

  it('shows calls and metrics to those who ask by an expected name only', async () => {
    const asked = (host: string): Promise<string> => raw(`GET /calls HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    for (const host of ['127.0.0.1', '10.0.0.7:8087', '[::1]', 'localhost', 'ops.example']) expect(await asked(host)).toContain(' 200 ');
    const answer = await asked('rebound.example');
    expect(answer).toContain(' 421 ');
    expect(answer).not.toContain('conv 1');
    expect(answer).toContain('ops.host_names');
    expect(await raw('GET /metrics HTTP/1.1\r\nhost: rebound.example\r\nconnection: close\r\n\r\n')).toContain(' 421 ');
  });

  it.each(['/health/live', '/health/ready', '/voice-1/v1/ping'])('O-01 answers %s by whatever name it is asked', async (path) => {
    readiness.started();
    const answer = await raw(`GET ${path} HTTP/1.1\r\nhost: voice.customer.example\r\nconnection: close\r\n\r\n`);
    expect(answer).toContain(' 200 ');
  });

  it('warns when other machines can reach it', async () => {
    const exposed = await startOpsServer({
      ...{ host: '0.0.0.0', port: 0, hostNames: [], serviceName: 'x', console: CONSOLE, readiness, clock: new FakeClock(), log },
      metrics: { contentType: 'text/plain', text: () => Promise.resolve('') },
      calls: { recent: () => ({ calls: [], refused: [] }), find: () => undefined },
    });
    await exposed.close();
    expect(JSON.stringify(logged)).toContain('ops_exposed');
  });

  it('forbids caches', async () => {
    const response = await fetch(`http://127.0.0.1:${String(server.port)}/health/live`);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['/', undefined],
    ['/health', undefined],
    ['/CANARY?x=CANARY', undefined],
    ['/metrics/../../etc/passwd', undefined],
    ['/metrics', { method: 'POST', body: 'CANARY' }],
    ['/health/live', { method: 'DELETE' }],
  ])('answers %s with the same words for everything it does not know', async (path, init) => {
    expect(await get(path, init)).toMatchObject({ status: 404, type: 'application/json; charset=utf-8', body: '{"error":"not found"}' });
  });

  it.each([
    'GET /%zzCANARY HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
    'CANARY\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: h\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
  ])('repeats nothing of a request it cannot read', async (request) => {
    const answer = await raw(request);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /u);
    expect(answer).not.toMatch(/CANARY|yyy/u);
  });

  it('hides from clients why metrics failed, and logs it', async () => {
    metricsText = () => Promise.reject(new Error('CANARY'));
    expect(await get('/metrics')).toMatchObject({ status: 500, body: '{"error":"internal error"}' });
    expect(logged).toEqual([expect.stringContaining('"route":"/metrics"')]);
  });

  it('closes although clients keep connections open, idle or in the middle of a request', async () => {
    const sockets = [await openSocket(''), await openSocket('GET /health/live HTTP/1.1\r\nHost: h\r\n\r\n'), await openSocket('GET /met')];
    await get('/health/live');
    const closed = sockets.map((socket) => once(socket, 'close'));
    for (const socket of sockets) socket.resume();
    await server.close();
    await Promise.all(closed);
    await expect(get('/health/live')).rejects.toThrow(/fetch failed/u);
  });

  it('P-18 closes connections beyond its limit at once and serves again when others leave', async () => {
    const sockets: Socket[] = [];
    for (let index = 0; index < 100; index++) sockets.push(await openSocket('G'));
    const refused = connect(server.port, '127.0.0.1').resume();
    refused.on('error', () => undefined);
    await once(refused, 'close');
    for (const socket of sockets) socket.destroy();
    await Promise.all(sockets.map((socket) => (socket.closed ? Promise.resolve() : once(socket, 'close'))));
    // The server learns of the departures a moment later; each try is answered or refused, never left hanging.
    let status = 0;
    for (let tries = 0; status !== 200 && tries < 50; tries++)
      status = await get('/health/live').then(
        (answer) => answer.status,
        () => 0,
      );
    expect(status).toBe(200);
  });

  it('gives connections that ask to leave HTTP to whoever shares the port, beside its own', async () => {
    const { shared, taken } = await startShared();
    expect(shared.address).toBe(`127.0.0.1:${String(shared.port)}`);
    const leaving = 'GET /elsewhere HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n';
    // As many as its own limit, and more.
    for (let count = 1; count <= 101; count++) {
      const socket = connect(shared.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(leaving);
      await until(`${String(count)} connections were given away`, () => taken.length === count);
    }
    expect((await fetch(`http://127.0.0.1:${String(shared.port)}/health/live`)).status).toBe(200);
  });

  it.each([
    ['GET /health/ready', 200, '{"ready":true,"reasons":[]}'],
    ['GET /metrics', 200, 'parley_up 1\n'],
    ['GET /voice-1/v1/ping', 200, '"serviceState":"online"'],
    ['HEAD /health/live', 200, ''],
    ['GET /elsewhere', 404, '{"error":"not found"}'],
  ])('answers %s of a client that offers HTTP/2 as if it had not, where it shares its port', async (line, status, body) => {
    readiness.started();
    const { shared, taken } = await startShared();
    const answer = await raw(`${line} HTTP/1.1\r\nHost: h\r\n${H2C}\r\n\r\n`, shared.port);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} (?:.+\\r\\n)*connection: close\\r\\n`, 'iu'));
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toContain(body);
    expect(taken).toEqual([]);
  });

  it('waits for no body of a client that offers HTTP/2', async () => {
    const { shared } = await startShared();
    const answer = await raw(`POST /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n${H2C}\r\n\r\n{"a":`, shared.port);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /u);
  });

  it('closes although a client that offered HTTP/2 does not read its answer', async () => {
    const { shared } = await startShared();
    // More than both buffers of a connection hold.
    metricsText = () => Promise.resolve('x'.repeat(64 * 1024 * 1024));
    const socket = connect(shared.port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    socket.write(`GET /metrics HTTP/1.1\r\nHost: h\r\n${H2C}\r\n\r\n`);
    await once(socket, 'readable');
    await shared.close();
    socket.destroy();
  });

  it('says listen_failed with the address when the port is taken, and leaves nothing open', async () => {
    const second = startOpsServer({
      ...{
        host: '127.0.0.1',
        port: server.port,
        hostNames: [],
        serviceName: 'x',
        console: CONSOLE,
        readiness,
        clock: new FakeClock(),
        log,
      },
      metrics: { contentType: 'text/plain', text: () => Promise.resolve('') },
      calls: { recent: () => ({ calls: [], refused: [] }), find: () => undefined },
    });
    await expect(second).rejects.toMatchObject({ code: 'listen_failed', details: { host: '127.0.0.1', port: server.port } });
  });
});
