// Both health services over the wire: who may ask, what strangers can do with them, and how watching ends.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { Http2Client } from '../support/http2-client.ts';
import { PATHS, SERVICES, type OpenStream, type PlatformClient } from '../support/platform-client.ts';
import { RunningServer } from '../support/running-server.ts';
import { until } from '../support/until.ts';

const PLATFORM_HEALTH = SERVICES.health[1];

/** A request that names a service: field 1, a string. */
function asking(service: string): Buffer {
  const name = Buffer.from(service);
  const length: number[] = [];
  for (let rest = name.length; rest > 0 || length.length === 0; rest = Math.floor(rest / 128)) {
    length.push((rest % 128) + (rest >= 128 ? 128 : 0));
  }
  return name.length === 0 ? name : Buffer.concat([Buffer.of(10, ...length), name]);
}

const serialize = asking;
/** The one field of an answer; absent when it is 0. */
const deserialize = (bytes: Buffer): number => bytes[1] ?? 0;

const check = (client: PlatformClient, service: string, name = ''): Promise<number> =>
  client.unary(`/${service}/Check`, serialize, deserialize, name);
const watch = (client: PlatformClient, service: string, name = ''): OpenStream<number> =>
  client.stream(`/${service}/Watch`, serialize, deserialize, name);

describe('health', () => {
  let server: RunningServer;
  let stranger: PlatformClient;
  let client: PlatformClient;
  beforeAll(async () => {
    server = await RunningServer.start();
    stranger = await server.client({ authorization: undefined });
    client = await server.client();
  });
  afterAll(() => server.close());

  it.each(SERVICES.health)('G-04 reports through %s, without a token, that the server takes calls', async (service) => {
    expect(await check(stranger, service)).toBe(1);
    expect(await check(stranger, service, SERVICES.media)).toBe(1);
  });

  it.each(SERVICES.health)('G-04 lets nobody watch through %s without a token', async (service) => {
    const watching = watch(stranger, service);
    expect(await watching.ended()).toMatchObject({ code: status.UNAUTHENTICATED, details: 'token refused' });
    expect(watching.responses).toEqual([]);
  });

  it('answers for a service that nobody serves in fixed words, however long its name is', async () => {
    for (const name of ['no.such.Service', 'x'.repeat(900_000)]) {
      await expect(check(stranger, 'grpc.health.v1.Health', name)).rejects.toMatchObject({
        code: status.NOT_FOUND,
        details: 'no such service',
      });
      expect(await check(stranger, PLATFORM_HEALTH, name)).toBe(0);
    }
    const watching = watch(client, 'grpc.health.v1.Health', 'no.such.Service');
    await until('the watch is answered', () => watching.responses.length > 0);
    expect(watching.responses).toEqual([3]);
    watching.cancel();
  });

  it('refuses a request that cannot be decoded', async () => {
    for (const service of SERVICES.health) {
      const broken = stranger.unary(`/${service}/Check`, () => Buffer.of(0xff, 0xff, 0xff), deserialize, '');
      await expect(broken).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    }
  });

  it('bounds the number of watches', async () => {
    const watches = Array.from({ length: 110 }, (_, index) => watch(client, SERVICES.health[index % 2] ?? PLATFORM_HEALTH));
    await until('100 watches are answered', () => watches.filter(({ responses }) => responses.length > 0).length === 100);
    const refused = watches.filter(({ responses }) => responses.length === 0);
    for (const watching of refused) expect(await watching.ended()).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    for (const watching of watches) watching.cancel();
    // Every place is free again.
    await until('a watch is taken again', async () => {
      const watching = watch(client, PLATFORM_HEALTH);
      await until('the watch is answered or refused', () => watching.responses.length > 0 || watching.isEnded);
      watching.cancel();
      return watching.responses.length > 0;
    });
  });
});

describe('health of a server that stops', () => {
  it('P-09 notifies every watcher that no calls are taken and ends the watch, without waiting for anybody', async () => {
    const server = await RunningServer.start();
    const client = await server.client();
    const watches = SERVICES.health.map((service) => watch(client, service));
    await until('the watches are answered', () => watches.every(({ responses }) => responses.length > 0));
    const startedMs = systemClock.monotonicMs();
    await server.app.close();
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(4000);
    for (const watching of watches) {
      expect(await watching.ended()).toMatchObject({ code: status.OK });
      expect(watching.responses).toEqual([1, 2]);
    }
    await server.close();
  });

  it('cuts what does not end by itself, so that stopping has a bound', async () => {
    const clock = new FakeClock();
    const server = await RunningServer.start({ clock, flags: ['--shutdown.grace_ms=1000', '--grpc.reflection=true'] });
    const client = await server.client();
    // Reflection stays open for as long as its client likes.
    const reflection = new Http2Client(server.target, {
      authority: server.certificate.certificatePem,
      authorization: await server.issuer.issueToken(),
    });
    const stream = reflection.open('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo').send(Buffer.of(58, 0));
    await until('reflection has answered', () => stream.receivedBytes > 0);
    expect(await check(client, PLATFORM_HEALTH)).toBe(1);
    let isClosed = false;
    void server.app.close().then(() => {
      isClosed = true;
    });
    // One step of closing after the other, each with a limit of its own.
    await until('the server is closed', async () => {
      await clock.advanceAsync(1000);
      return isClosed;
    });
    await until('the connection is cut', () => reflection.isClosed);
    await server.close();
  });
});

describe('a request that never comes', () => {
  it.each([...SERVICES.health.map((service) => `/${service}/Check`), PATHS.list])(
    'is not waited for: %s ends with DEADLINE_EXCEEDED when no message comes in time',
    async (path) => {
      const clock = new FakeClock();
      // Longer than the wait for the message: these connections show no token.
      const server = await RunningServer.start({ clock, flags: ['--grpc.unverified_timeout_ms=120000'] });
      onTestFinished(() => server.close());
      const authorization = await server.issuer.issueToken({ lifetimeMinutes: 120 });
      // From now on the token is remembered: the check of the next RPC does not wait for keys.
      await (await server.client({ authorization })).list();
      const client = new Http2Client(server.target, { authority: server.certificate.certificatePem, authorization });
      onTestFinished(() => {
        client.destroy();
      });
      const timersBefore = clock.pendingTimers;
      const stream = client.open(path);
      await until('the server waits for the message', () => clock.pendingTimers > timersBefore);
      await clock.advanceAsync(60_000);
      expect(await stream.ended()).toEqual({ code: status.DEADLINE_EXCEEDED, details: 'the stream was opened and no message came' });
    },
  );
});
