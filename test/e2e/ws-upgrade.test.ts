// From a connection to a socket: who gets one, and what becomes of those who do not.
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { dataSource, RunningServer, type ServerOptions } from '../support/running-server.ts';
import {
  connectSocket,
  socketDataSource,
  socketOrigin,
  SocketPeer,
  socketToken,
  upgradeRequest,
  WITH_SOCKETS,
} from '../support/socket-peer.ts';
import { until, within } from '../support/until.ts';

/** Connections that the door lets in beyond the sockets that may be open. */
const DOOR_SLACK = 100;

/** Flags for so many sockets at most; there must be fewer calls. */
function roomFor(sockets: number): readonly string[] {
  return [`--websocket.max_connections=${String(sockets)}`, '--sessions.max=1'];
}

function startFor({ flags = [], ...options }: ServerOptions): Promise<RunningServer> {
  return RunningServer.start({
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
    ...options,
    flags: [...WITH_SOCKETS, ...flags],
  });
}

/** It ends with its test. */
async function serverFor(options: ServerOptions = {}): Promise<RunningServer> {
  const server = await startFor(options);
  onTestFinished(() => server.close());
  return server;
}

function portOf({ app }: RunningServer): number {
  return app.ready.websocket?.port ?? 0;
}

/** A whole answer over plain HTTP, from raw text until the server closes. */
async function raw(server: RunningServer, text: string): Promise<string> {
  const socket = net.connect(portOf(server), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.write(text);
  await within('the server closes the connection', once(socket, 'close'));
  return answer;
}

async function connected(server: RunningServer): Promise<net.Socket> {
  const socket = net.connect(portOf(server), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  onTestFinished(() => {
    socket.destroy();
  });
  await within('a connection stands', once(socket, 'connect'));
  return socket;
}

/** Streams that were refused for their token so far. */
const refused = (server: RunningServer): Promise<number | undefined> =>
  server.metric('parley_streams_refused_total{code="unauthenticated",transport="websocket"}');

describe('an upgrade', () => {
  /** Without TLS, for those that are refused. */
  let plain: RunningServer;
  beforeAll(async () => {
    plain = await startFor({ hasTls: false });
  });
  afterAll(() => plain.close());

  it('W-01 W-05 W-09 makes a socket on either path over TLS, with the token of a data source for it and without a certificate', async () => {
    const server = await serverFor();
    expect(socketOrigin(server)).toMatch(/^wss:/u);
    for (const path of ['/v1/va', '/v1/listVirtualAgents', '/v1/va?x=1']) {
      const peer = await connectSocket(server, path);
      expect(peer.socket).toMatchObject({ readyState: peer.socket.OPEN, extensions: '', protocol: '' });
      peer.socket.close();
      await peer.closed();
    }
  });

  it('W-02 expects what the operator puts before the paths, and nothing else', async () => {
    const server = await serverFor({ flags: ['--websocket.path_prefix=/voice-virtual-agent'] });
    const peer = await connectSocket(server, '/voice-virtual-agent/v1/va');
    peer.socket.terminate();
    await expect(connectSocket(server)).rejects.toThrow('refused with 404');
  });

  it.each<readonly [what: string, authorization: (server: RunningServer) => Promise<string> | string]>([
    ['no token', () => ''],
    ['an empty token', () => 'Bearer '],
    ['a token without its scheme', ({ issuer }) => socketToken(issuer)],
    ['a token with another scheme', async ({ issuer }) => `Basic ${await socketToken(issuer)}`],
    ['no token at all, only words', () => 'Bearer CANARY'],
    ['the token of a data source for gRPC (J-2E)', async ({ issuer }) => `Bearer ${await issuer.issueToken()}`],
    ['the token of another data source', async ({ issuer }) => `Bearer ${await socketToken(issuer, { nonce: 'CANARY' })}`],
    ['a token that has ended', async ({ issuer }) => `Bearer ${await issuer.issueToken({}, systemClock.nowMs() - 86_400_000)}`],
  ])('W-06 with %s gets 401 and nothing more', async (_what, authorization) => {
    const before = (await refused(plain)) ?? 0;
    const given = await authorization(plain);
    const answer = await raw(plain, upgradeRequest('/v1/va', { authorization: given }));
    const [head = '', body] = answer.split('\r\n\r\n');
    expect(head.split('\r\n').sort()).toEqual([
      'HTTP/1.1 401 Unauthorized',
      'cache-control: no-store',
      'connection: close',
      'content-length: 14',
      'content-type: text/plain; charset=utf-8',
      'www-authenticate: Bearer',
    ]);
    expect(body).toBe('token refused\n');
    expect(await refused(plain)).toBe(before + 1);
    expect(JSON.stringify(plain.log)).not.toContain('CANARY');
  });

  it('W-06 with two tokens gets 401, also when one of them is good', async () => {
    const good = `Bearer ${await socketToken(plain.issuer)}`;
    const text = upgradeRequest('/v1/va', { authorization: good }).replace('Host: h', `Host: h\r\nAuthorization: ${good}`);
    expect(await raw(plain, text)).toMatch(/^HTTP\/1\.1 401 /u);
  });

  it.each([
    ['W-07 another path', upgradeRequest('/v1/vb'), 404],
    ['W-07 the path of neither channel', upgradeRequest('/'), 404],
    ['W-07 a path with something behind it', upgradeRequest('/v1/va/'), 404],
    ['W-07 another path without an upgrade', 'GET /CANARY HTTP/1.1\r\nHost: h\r\n\r\n', 404],
    ['another method', upgradeRequest('/v1/va', { method: 'POST' }), 405],
    ['another method without an upgrade', 'POST /v1/va HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nCANARY', 405],
    ['no upgrade', 'GET /v1/va HTTP/1.1\r\nHost: h\r\n\r\n', 426],
    ['what is no HTTP', 'CANARY\r\n\r\n', 400],
    ['headers without end', `GET /v1/va HTTP/1.1\r\nHost: h\r\nX: ${'CANARY'.repeat(4000)}`, 431],
  ])('to %s is refused before the token is looked at, and the connection closed', async (_what, text, status) => {
    const before = await refused(plain);
    const answer = await raw(plain, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `, 'u'));
    expect(answer).not.toContain('CANARY');
    expect(await refused(plain)).toBe(before);
  });

  it.each([
    ['another version', { version: '12' }],
    ['another protocol than WebSocket', { protocol: 'h2c' }],
  ])(
    'to %s is refused as a bad request',
    async (_what, { version = '13', protocol = 'websocket' }: { version?: string; protocol?: string }) => {
      const authorization = `Bearer ${await socketToken(plain.issuer)}`;
      const text = upgradeRequest('/v1/va', { authorization, version }).replace('Upgrade: websocket', `Upgrade: ${protocol}`);
      expect(await raw(plain, text)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n(?:.+\r\n)*\r\nbad request\n$/u);
    },
  );

  it('may offer compression and protocols of its own, and gets neither', async () => {
    const headers = { authorization: `Bearer ${await socketToken(plain.issuer)}` };
    const socket = new net.Socket();
    socket.connect(portOf(plain), '127.0.0.1');
    onTestFinished(() => {
      socket.destroy();
    });
    socket.write(
      upgradeRequest('/v1/va', headers).replace(
        'Host: h',
        'Host: h\r\nSec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Protocol: one, two',
      ),
    );
    const [answer] = (await within('an answer comes', once(socket, 'data'))) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 101 /u);
    expect(answer.toString()).not.toMatch(/permessage|Sec-WebSocket-Protocol/iu);
  });
});

describe('connections for sockets', () => {
  it('P-12 speak HTTP/1.1 over TLS 1.2 or newer', async () => {
    const server = await serverFor();
    const dial = async (options: tls.ConnectionOptions): Promise<string | false | null> => {
      const ca = server.certificate.certificatePem;
      const socket = tls.connect({ port: portOf(server), host: '127.0.0.1', servername: 'localhost', ca, ...options });
      onTestFinished(() => {
        socket.destroy();
      });
      await within('the handshake is over', once(socket, 'secureConnect'));
      return socket.alpnProtocol;
    };
    expect(await dial({ ALPNProtocols: ['h2', 'http/1.1'], maxVersion: 'TLSv1.2' })).toBe('http/1.1');
    expect(await dial({})).toBe(false);
    await expect(dial({ ALPNProtocols: ['h2'] })).rejects.toThrow();
    await expect(dial({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })).rejects.toThrow();
  });

  it.each([
    ['say nothing', ''],
    ['stop in the middle of their request', 'GET /v1/va HTTP/1.1\r\nHos'],
    ['send their body slowly', 'POST /v1/va HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nx'],
  ])('that %s are closed in time, and their places come back', async (_what, text) => {
    const server = await serverFor({ hasTls: false, flags: ['--websocket.unverified_timeout_ms=300', ...roomFor(50)] });
    const sockets = await Promise.all(Array.from({ length: 50 + DOOR_SLACK }, () => connected(server)));
    const ends = sockets.map(async (socket) => {
      // Some hear of it by a reset.
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    });
    for (const socket of sockets) socket.write(text);
    await within('all are closed', Promise.all(ends));
    const peer = await connectSocket(server);
    peer.socket.terminate();
  });

  it('that send one byte after the other are closed all the same', async () => {
    const server = await serverFor({ hasTls: false, flags: ['--websocket.unverified_timeout_ms=300'] });
    const socket = await connected(server);
    const startedMs = systemClock.monotonicMs();
    const cancel = setInterval(() => socket.write('X'), 20);
    onTestFinished(() => {
      clearInterval(cancel);
    });
    socket.write('GET /v1/va HTTP/1.1\r\nX: ');
    // Bytes that reach a closed socket are answered with a reset, so `once` may not listen for errors.
    await within('the server closes it', new Promise((resolve) => socket.once('close', resolve)));
    expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(250);
  });

  it('that do not finish their TLS handshake are closed in time', async () => {
    const server = await serverFor({ flags: ['--websocket.handshake_timeout_ms=200'] });
    const socket = await connected(server);
    await within('the server closes it', once(socket, 'close'));
  });

  it('P-18 more than allowed get the status for no room, many more are closed at once, and places come back', async () => {
    const server = await serverFor({ hasTls: false, flags: roomFor(2) });
    const peers = [await connectSocket(server), await connectSocket(server)];
    await expect(connectSocket(server)).rejects.toThrow('refused with 503');
    expect(await server.metric('parley_streams_refused_total{code="overloaded",transport="websocket"}')).toBe(1);
    const silent = await Promise.all(Array.from({ length: DOOR_SLACK }, () => connected(server)));
    const last = await connected(server);
    await within('one too many is closed', once(last, 'close'));
    for (const socket of silent) socket.destroy();
    for (const { socket } of peers) socket.terminate();
    await until('a new one is served', () =>
      connectSocket(server).then(
        ({ socket }) => {
          socket.terminate();
          return true;
        },
        () => false,
      ),
    );
  });
});

describe('sockets beside health checks', () => {
  const SHARED = ['--websocket.listen=ops'];

  it('come through the port of the operations server, which still answers', async () => {
    const server = await serverFor({ flags: SHARED });
    expect(server.app.ready.websocket).toEqual({
      address: `127.0.0.1:${String(server.app.ready.opsPort)}`,
      port: server.app.ready.opsPort,
      security: 'plaintext',
    });
    const peer = await connectSocket(server);
    expect(peer.socket.readyState).toBe(peer.socket.OPEN);
    expect((await fetch(`http://127.0.0.1:${String(server.app.ready.opsPort)}/health/ready`)).status).toBe(200);
    expect(await raw(server, upgradeRequest('/health/ready'))).toMatch(/^HTTP\/1\.1 404 /u);
    expect(await raw(server, upgradeRequest('/v1/va'))).toMatch(/^HTTP\/1\.1 401 /u);
  });

  it('P-18 leave room for health checks when there are as many as may be', async () => {
    const server = await serverFor({ flags: [...SHARED, ...roomFor(3)] });
    for (let count = 0; count < 3; count++) await connectSocket(server);
    await expect(connectSocket(server)).rejects.toThrow('refused with 503');
    expect(await server.metric('parley_streams_refused_total{code="overloaded",transport="websocket"}')).toBe(1);
    expect((await fetch(`http://127.0.0.1:${String(server.app.ready.opsPort)}/health/ready`)).status).toBe(200);
  });

  it.each([
    ['0.0.0.0', 1],
    ['127.0.0.1', 0],
  ])('P-12 are warned of, when they come in without TLS at an address such as %s, so many times: %s', async (host, lines) => {
    const server = await serverFor({ flags: [...SHARED, `--ops.host=${host}`] });
    expect(server.logged({ level: 'warn', setting: `ops.host ${host}` })).toHaveLength(lines);
  });

  it('are off unless switched on: nothing listens, and the operations server knows no upgrade', async () => {
    const server = await RunningServer.start();
    onTestFinished(() => server.close());
    expect(server.app.ready.websocket).toBeUndefined();
    await expect(SocketPeer.connect(`ws://127.0.0.1:${String(server.app.ready.opsPort)}/v1/va`)).rejects.toThrow('refused with 404');
  });
});
