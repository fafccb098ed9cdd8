// Connections that are too many, too slow or not what they should be: closed, and the others are served.
import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { Http2Client } from '../support/http2-client.ts';
import { FrameClient } from '../support/http2-frames.ts';
import { PATHS, type ClientTurn, type PlatformClient } from '../support/platform-client.ts';
import { RunningServer, WITH_TEST_BOTS, type ServerOptions } from '../support/running-server.ts';
import { until, within } from '../support/until.ts';

async function serverFor(options: ServerOptions): Promise<{ server: RunningServer; client: PlatformClient }> {
  const server = await RunningServer.start({ ...options, flags: [...WITH_TEST_BOTS, ...(options.flags ?? [])] });
  onTestFinished(() => server.close());
  return { server, client: await server.client() };
}

describe('connections', () => {
  /** Resolves when the other side has closed the socket. */
  const closed = (socket: net.Socket): Promise<void> => {
    onTestFinished(() => {
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.resume();
    return within(
      'the server closes the connection',
      new Promise((resolve) =>
        socket.once('close', () => {
          resolve();
        }),
      ),
    );
  };
  const connected = async (port: number): Promise<net.Socket> => {
    const socket = net.connect(port, '127.0.0.1');
    await within('a connection stands', new Promise((resolve) => socket.once('connect', resolve)));
    return socket;
  };

  /** Opens an RPC that has come to the server: a later one on the same connection was answered. */
  const withOpenRpc = async (client: PlatformClient): Promise<ClientTurn> => {
    const rpc = client.open();
    await client.list();
    return rpc;
  };

  it('P-18 more than allowed close the oldest one without a good token, and those with one go on', async () => {
    const { server, client } = await serverFor({ flags: ['--grpc.max_connections=2'] });
    await client.list();
    const strangerClosed = closed(await connected(server.app.ready.port));
    const late = await server.client();
    expect(await late.list()).toBeDefined();
    await strangerClosed;
    expect(server.logged({ level: 'warn', setting: 'max_connections', limit: 2 })).toHaveLength(1);
    const open = [await withOpenRpc(client), await withOpenRpc(late)];
    await closed(await connected(server.app.ready.port));
    for (const rpc of open) expect((await rpc.halfClose().ended()).code).toBe(0);
    await Promise.all([client.list(), late.list()]);
  });

  /** A frame that is larger than any may be; 42 bytes with the start. Node 20 would neither end the connection nor see that the other side has. */
  const TOO_LARGE = Buffer.from('ffffff000000000001', 'hex');
  const BROKEN = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from('000000040000000000', 'hex'), TOO_LARGE]);

  it.each([true, false])('P-18 that break the protocol and go do not lock the port (TLS: %s)', async (hasTls) => {
    const { server } = await serverFor({ hasTls, flags: ['--grpc.max_connections=10'] });
    const { port } = server.app.ready;
    for (let each = 0; each < 15; each += 1) {
      const raw = await connected(port);
      const socket = hasTls
        ? tls.connect({ socket: raw, servername: 'localhost', ca: server.certificate.certificatePem, ALPNProtocols: ['h2'] })
        : raw;
      socket.on('error', () => undefined);
      const isAnswered = within('the server has answered', new Promise((resolve) => socket.once('data', resolve)));
      socket.write(BROKEN);
      await isAnswered;
      raw.destroy();
    }
    const startedMs = systemClock.monotonicMs();
    expect(await (await server.client()).list()).toBeDefined();
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(2000);
  });

  it.each([true, false])('P-18 that show no good token in time are closed, those that do go on (TLS: %s)', async (hasTls) => {
    const { server } = await serverFor({ hasTls, flags: ['--grpc.unverified_timeout_ms=300'] });
    const target = server.target;
    const authority = hasTls ? { authority: server.certificate.certificatePem } : {};
    const silent = new Http2Client(target, authority);
    const forger = new Http2Client(target, { ...authority, authorization: 'Bearer a.b.c' });
    const verified = new Http2Client(target, { ...authority, authorization: await server.issuer.issueToken() });
    onTestFinished(() => {
      for (const client of [silent, forger, verified]) client.destroy();
    });
    const [good, forged] = [verified, forger].map((client) => client.open(PATHS.callerInput).halfClose().ended());
    expect([(await good)?.code, (await forged)?.code]).toEqual([0, 16]);
    const startedMs = systemClock.monotonicMs();
    await until('both strangers are closed', () => silent.isClosed && forger.isClosed);
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(4000);
    expect(verified.isClosed).toBe(false);
    expect((await verified.open(PATHS.callerInput).halfClose().ended()).code).toBe(0);
  });

  it('P-18 that repeat a health check as often as strangers are waited for stay open, and the next silent one does not', async () => {
    const clock = new FakeClock();
    const { server } = await serverFor({ clock, hasTls: false });
    const balancer = new Http2Client(server.target);
    onTestFinished(() => {
      balancer.destroy();
    });
    for (let each = 0; each < 30; each += 1) {
      const check = balancer.open('/grpc.health.v1.Health/Check').send(Buffer.alloc(0)).halfClose();
      expect((await check.ended()).code).toBe(0);
      clock.advance(5000);
    }
    expect(balancer.isClosed).toBe(false);
    clock.advance(2500);
    await until('it is closed when it asks no more', () => balancer.isClosed);
  });

  it('P-18 with a good token and no open RPC make room on a full port, and those with one stay', async () => {
    const { server, client } = await serverFor({ flags: ['--grpc.max_connections=2'] });
    const open = await withOpenRpc(client);
    const idle = new Http2Client(server.target, {
      authority: server.certificate.certificatePem,
      authorization: await server.issuer.issueToken(),
    });
    onTestFinished(() => {
      idle.destroy();
    });
    expect((await idle.open(PATHS.callerInput).halfClose().ended()).code).toBe(0);
    expect(await (await server.client()).list()).toBeDefined();
    await until('the idle one is closed', () => idle.isClosed);
    expect((await open.halfClose().ended()).code).toBe(0);
  });

  it('P-18 with a good token that break the protocol and go do not lock the port', async () => {
    const { server } = await serverFor({ hasTls: false, flags: ['--grpc.max_connections=2'] });
    const authorization = await server.issuer.issueToken();
    for (let each = 0; each < 3; each += 1) {
      const broken = (await FrameClient.connect(server.app.ready.port)).greet();
      const path = { ':method': 'POST', ':scheme': 'http', ':path': PATHS.callerInput, ':authority': 'localhost' };
      broken.open(1, { ...path, 'content-type': 'application/grpc', te: 'trailers', authorization }, { isWhole: true });
      await until('its RPC is over', () => broken.counts.headers >= 1);
      broken.write(TOO_LARGE);
      await until('the server has answered', () => broken.counts.goaway > 0 || broken.isClosed);
      broken.destroy();
    }
    expect(await (await server.client()).list()).toBeDefined();
  });

  it('P-18 from one address that show no good token close the oldest of them, and a call from there is taken', async () => {
    const { server, client } = await serverFor({ flags: ['--grpc.max_unverified_per_address=3'] });
    await client.list();
    const oldest = closed(await connected(server.app.ready.port));
    const strangers: net.Socket[] = [];
    for (let each = 0; each < 3; each += 1) strangers.push(await connected(server.app.ready.port));
    await oldest;
    expect(await (await server.client()).list()).toBeDefined();
    expect(server.logged({ level: 'warn', setting: 'max_unverified_per_address', limit: 3 })).not.toHaveLength(0);
    await client.list();
    for (const stranger of strangers) stranger.destroy();
  });

  it('refusing many of them writes few lines', async () => {
    const { server, client } = await serverFor({ flags: ['--grpc.max_connections=1'] });
    const open = await withOpenRpc(client);
    for (let round = 0; round < 20; round += 1) await closed(await connected(server.app.ready.port));
    expect(server.logged({ level: 'warn', limit: 1 }).length).toBeLessThanOrEqual(3);
    expect((await open.halfClose().ended()).code).toBe(0);
  });

  it('that do not finish their TLS handshake are closed in time', async () => {
    const { server } = await serverFor({ flags: ['--grpc.handshake_timeout_ms=200'] });
    const startedMs = systemClock.monotonicMs();
    await closed(await connected(server.app.ready.port));
    expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(150);
  });

  it('that answer no ping are closed, with or without a first word', async () => {
    const { server } = await serverFor({
      hasTls: false,
      flags: ['--grpc.unverified_timeout_ms=60000', '--grpc.keepalive_ms=1000', '--grpc.keepalive_timeout_ms=100'],
    });
    const silent = await FrameClient.connect(server.app.ready.port);
    const deaf = (await FrameClient.connect(server.app.ready.port)).greet();
    await until('both are closed', () => silent.isClosed && deaf.isClosed);
    expect(deaf.counts.ping).toBe(1);
  });

  it('P-12 with TLS 1.1 are refused, with TLS 1.2 and 1.3 accepted', async () => {
    const { server } = await serverFor({});
    const outcome = (version: tls.SecureVersion): Promise<string> => {
      const socket = tls.connect({
        host: 'localhost',
        port: server.app.ready.port,
        ca: server.certificate.certificatePem,
        ALPNProtocols: ['h2'],
        minVersion: version,
        maxVersion: version,
        // Lets the old version reach the server at all.
        ciphers: 'DEFAULT@SECLEVEL=0',
      });
      onTestFinished(() => {
        socket.destroy();
      });
      return within(
        'the handshake ends',
        new Promise((resolve) => {
          socket.once('secureConnect', () => {
            resolve(`${socket.getProtocol() ?? 'no TLS'} ${String(socket.alpnProtocol)}`);
          });
          socket.once('error', (error: NodeJS.ErrnoException) => {
            resolve(error.code ?? error.message);
          });
        }),
      );
    };
    // The alert comes from the server: the client would have spoken the version.
    expect(await outcome('TLSv1.1')).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
    expect(await outcome('TLSv1.2')).toBe('TLSv1.2 h2');
    expect(await outcome('TLSv1.3')).toBe('TLSv1.3 h2');
  });

  it('without TLS are closed where TLS is spoken, and the other way round', async () => {
    const { server } = await serverFor({});
    const socket = await connected(server.app.ready.port);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    await closed(socket);
    const noise = await connected(server.app.ready.port);
    noise.write(Buffer.alloc(5000, 0x7f));
    await closed(noise);

    const { server: plain } = await serverFor({ hasTls: false });
    const secure = await connected(plain.app.ready.port);
    tls.connect({ socket: secure, servername: 'localhost' }).on('error', () => undefined);
    await closed(secure);
    expect(await (await plain.client()).list()).toBeDefined();
  });
});
