// A connection to the primary that real sentinels name: while they change it, and when they cannot be asked.
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { AppError } from '../../../../src/base/errors.ts';
import type { RedisConnection, RedisConnectionOptions } from '../../../../src/store/redis/connection.ts';
import { certificateAuthority } from '../../../support/certificate-authority.ts';
import { requireDebian } from '../../../support/debian.ts';
import { freePort } from '../../../support/free-port.ts';
import { openConnection, REDIS_TIMEOUT_MS } from '../../../support/redis-connection.ts';
import { PRIMARY_NAME, RedisSentinel } from '../../../support/redis-sentinel.ts';
import { REDIS_NEEDS, RedisServer, type RedisServerOptions } from '../../../support/redis-server.ts';
import { until } from '../../../support/until.ts';

requireDebian(REDIS_NEEDS);

/** What a busy machine may add to a timeout before it counts as broken, ms. */
const SLACK_MS = 2000;
/** Three times what sentinels and our next try take together on a quiet machine, ms. */
const FAILOVER_LIMIT_MS = 20_000;

async function startedServer(options?: RedisServerOptions): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  onTestFinished(() => server.stop());
  return server;
}

async function startedSentinels(
  primary: RedisServer,
  count: number,
  options?: Pick<RedisServerOptions, 'password' | 'authority'>,
): Promise<readonly RedisSentinel[]> {
  const agreed = Math.floor(count / 2) + 1;
  const sentinels = await Promise.all(Array.from({ length: count }, () => RedisSentinel.start(primary, agreed, options)));
  onTestFinished(async () => {
    await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
  });
  return sentinels;
}

function named(sentinels: readonly Pick<RedisSentinel, 'address'>[]): Partial<RedisConnectionOptions> {
  return { sentinels: sentinels.map(({ address }) => address), sentinelName: PRIMARY_NAME };
}

/** An address that leads nowhere: with sentinels nobody dials it. */
async function nowhere(): Promise<{ readonly address: string; readonly url: string }> {
  const address = `127.0.0.1:${String(await freePort())}`;
  return { address, url: `redis://${address}` };
}

/** What it fails with, in bounded time. */
async function failureOf(connection: RedisConnection): Promise<unknown> {
  const startedMs = systemClock.monotonicMs();
  const outcome = await connection.send(['PING']).catch((thrown: unknown) => thrown);
  expect(systemClock.monotonicMs() - startedMs).toBeLessThan(REDIS_TIMEOUT_MS + SLACK_MS);
  return outcome;
}

describe('a connection to the primary that sentinels name', () => {
  it.each([
    ['is killed', 'kill'],
    ['hangs', 'hang'],
  ] as const)(
    'goes to the next primary when the first one %s, keeps what was copied, and lets no command wait for longer',
    async (_, how) => {
      const [primary, replica] = await Promise.all([startedServer(), startedServer()]);
      await replica.ask('REPLICAOF', '127.0.0.1', String(primary.port));
      await until('the replica follows', async () => (await replica.ask('INFO', 'replication')).includes('master_link_status:up'));
      const sentinels = await startedSentinels(primary, 3);
      await Promise.all(sentinels.map((sentinel) => sentinel.agrees(1)));

      const { connection, logged } = await openConnection(await nowhere(), named(sentinels));
      expect(await connection.send(['SET', 'x', '1'])).toBe('OK');
      expect(await connection.send(['WAIT', '1', '500'])).toBe(1);
      await primary[how]();
      let longestMs = 0;
      await until(
        'commands are answered again',
        async () => {
          const sentMs = systemClock.monotonicMs();
          const answer = await connection.send(['SET', 'y', '2']).catch((thrown: unknown) => thrown);
          longestMs = Math.max(longestMs, systemClock.monotonicMs() - sentMs);
          if (answer !== 'OK') expect(answer).toMatchObject({ code: 'store_unavailable' });
          return answer === 'OK';
        },
        FAILOVER_LIMIT_MS,
      );
      expect(longestMs).toBeLessThan(REDIS_TIMEOUT_MS + SLACK_MS);
      expect(await connection.send(['GET', 'x'])).toBe('1');
      expect(await replica.ask('GET', 'y')).toContain('2');
      expect(logged.map((line) => JSON.parse(line) as object)).toMatchObject([
        { redis: PRIMARY_NAME, msg: 'there is no connection to the Redis server; trying again' },
        { redis: PRIMARY_NAME, msg: 'the connection to the Redis server is back' },
      ]);
    },
  );

  it('comes about with one sentinel of three, and goes on without any', async () => {
    const primary = await startedServer();
    const [only] = await startedSentinels(primary, 1);
    if (only === undefined) throw new Error('no sentinel');
    const { connection } = await openConnection(await nowhere(), named([await nowhere(), only, await nowhere()]));
    expect(await connection.send(['PING'])).toBe('PONG');
    await only.stop();
    expect(await connection.send(['PING'])).toBe('PONG');
  });

  it('is to the server that most sentinels name, whoever answers first', async () => {
    const [primary, other] = await Promise.all([startedServer(), startedServer()]);
    const [[cutOff], most] = await Promise.all([startedSentinels(other, 1), startedSentinels(primary, 2)]);
    if (cutOff === undefined) throw new Error('no sentinel');
    await primary.ask('SET', 'who', 'primary');
    for (let time = 0; time < 5; time += 1) {
      const { connection } = await openConnection(await nowhere(), named([cutOff, ...most]));
      expect(await connection.send(['GET', 'who'])).toBe('primary');
    }
  });

  it('logs in to sentinels that want a password', async () => {
    const primary = await startedServer();
    const sentinels = await startedSentinels(primary, 1, { password: 'for-sentinels' });
    const { connection } = await openConnection(await nowhere(), { ...named(sentinels), sentinelPassword: 'for-sentinels' });
    expect(await connection.send(['PING'])).toBe('PONG');
  });
});

describe('a connection over TLS', () => {
  it('trusts sentinels by their names, and the server they name by the name of store.redis.url', async () => {
    const authority = await certificateAuthority(systemClock.nowMs());
    const primary = await startedServer({ authority });
    const sentinels = await startedSentinels(primary, 1, { authority });
    const { port } = new URL((await nowhere()).url);
    const trusted = { ...named(sentinels), caFile: primary.caFile };
    const { connection } = await openConnection({ url: `rediss://localhost:${port}` }, trusted);
    expect(await connection.send(['PING'])).toBe('PONG');
    const { connection: distrusted } = await openConnection({ url: `rediss://other.example:${port}` }, trusted);
    expect(await failureOf(distrusted)).toMatchObject({ details: { reason: 'ERR_TLS_CERT_ALTNAME_INVALID' } });
    const { connection: foreign } = await openConnection({ url: `rediss://localhost:${port}` }, { ...trusted, caFile: undefined });
    expect(await failureOf(foreign)).toMatchObject({
      message: expect.stringMatching(/no sentinel names .*store\.redis\.ca_file/) as string,
    });
  });
});

describe('a connection for which no sentinel names a primary fails in time and says why', () => {
  it('when they know no primary of that name', async () => {
    const sentinels = await startedSentinels(await startedServer(), 1);
    const { connection } = await openConnection(await nowhere(), { ...named(sentinels), sentinelName: 'others' });
    expect(await failureOf(connection)).toMatchObject({
      message: 'the sentinels know no primary named others (store.redis.sentinel_name)',
    });
  });

  it('when all of them are away, however well the server is', async () => {
    const primary = await startedServer();
    const { connection, clock } = await openConnection(primary, named([await nowhere(), await nowhere()]));
    const failure = await failureOf(connection);
    expect(failure).toBeInstanceOf(AppError);
    expect(failure).toMatchObject({
      message: 'no sentinel names the primary: asking them failed with ECONNREFUSED (store.redis.sentinels)',
    });
    await connection.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('when one of them takes connections and is silent', async () => {
    const silent = await startedServer();
    silent.hang();
    const { connection } = await openConnection(await nowhere(), named([{ address: `127.0.0.1:${String(silent.port)}` }]));
    expect(await failureOf(connection)).toMatchObject({
      message: 'no sentinel names the primary: asking them failed with timeout (store.redis.sentinels)',
    });
  });

  it('when the password for them is wrong, without showing it', async () => {
    const sentinels = await startedSentinels(await startedServer(), 1, { password: 'for-sentinels' });
    const { connection, logged } = await openConnection(await nowhere(), { ...named(sentinels), sentinelPassword: 'a-wrong-one' });
    expect(await failureOf(connection)).toMatchObject({
      message:
        'no sentinel names the primary: asking them failed with WRONGPASS (store.redis.sentinel_user, store.redis.sentinel_password)',
    });
    expect(logged.join('\n')).not.toContain('a-wrong-one');
  });
});
