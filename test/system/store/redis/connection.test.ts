// A connection to a real server that is killed, hangs, is demoted and comes back. What happens when is in link.test.ts.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { AppError } from '../../../../src/base/errors.ts';
import type { RedisPackage } from '../../../../src/store/redis/client-package.ts';
import { redisScript } from '../../../../src/store/redis/connection.ts';
import { certificateAuthority } from '../../../support/certificate-authority.ts';
import { requireDebian } from '../../../support/debian.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { FakeRedisClient, isRefusal, Refusal } from '../../../support/fake-redis-client.ts';
import { freePort } from '../../../support/free-port.ts';
import { openConnection, REDIS_TIMEOUT_MS, redisConnection } from '../../../support/redis-connection.ts';
import { REDIS_NEEDS, RedisServer, type RedisServerOptions } from '../../../support/redis-server.ts';
import { until } from '../../../support/until.ts';

const hasRedis = requireDebian(REDIS_NEEDS);

/** What a busy machine may add to a timeout before it counts as broken, ms. */
const SLACK_MS = 2000;

/** A server that is stopped when the test ends. */
async function started(options?: RedisServerOptions): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  onTestFinished(() => server.stop());
  return server;
}

/** How long the work takes, ms, and what it ends with. */
async function timed(work: Promise<unknown>): Promise<{ readonly ms: number; readonly outcome: unknown }> {
  const startedMs = systemClock.monotonicMs();
  const outcome = await work.catch((thrown: unknown) => thrown);
  return { ms: systemClock.monotonicMs() - startedMs, outcome };
}

function expectUnavailable({ ms, outcome }: { readonly ms: number; readonly outcome: unknown }): void {
  expect(outcome).toBeInstanceOf(AppError);
  expect(outcome).toMatchObject({ code: 'store_unavailable' });
  expect(ms).toBeLessThan(REDIS_TIMEOUT_MS + SLACK_MS);
}

describe('a connection to a server that goes away', () => {
  it('fails commands in time while it is killed, and works by itself when it is back', async () => {
    const server = await started();
    const { connection, logged } = await openConnection(server);
    const changes: boolean[] = [];
    connection.onChange((isUp) => changes.push(isUp));
    expect(connection.isUp).toBe(true);
    expect(await connection.send(['SET', 'x', '1'])).toBe('OK');
    const underWay = Array.from({ length: 20 }, () => timed(connection.send(['BLPOP', 'nothing', '0'])));
    await server.kill();
    for (const one of await Promise.all(underWay)) expectUnavailable(one);
    expectUnavailable(await timed(connection.send(['GET', 'x'])));
    await until('the connection knows', () => !connection.isUp);
    await server.again();
    await until('the connection is back', () => connection.isUp);
    expect(await connection.send(['GET', 'x'])).toBeNull();
    expect(changes).toEqual([false, true]);
    expect(logged.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'there is no connection to the Redis server; trying again',
      'the connection to the Redis server is back',
    ]);
  });

  it('fails commands in time while it hangs, and works by itself when it goes on', async () => {
    const server = await started();
    const { connection } = await openConnection(server);
    await connection.send(['SET', 'x', '1']);
    server.hang();
    expectUnavailable(await timed(connection.send(['GET', 'x'])));
    expect(connection.isUp).toBe(false);
    // The kernel takes connections for it all the same.
    expectUnavailable(await timed(connection.send(['GET', 'x'])));
    server.resume();
    await until('the connection is back', () => connection.isUp);
    expect(await connection.send(['GET', 'x'])).toBe('1');
  });

  it('bridges a restart that is over before the timeout', async () => {
    const server = await started();
    const connection = await redisConnection(server, { timeoutMs: 30_000 });
    await server.kill();
    const sent = connection.send(['SET', 'x', '2']);
    await server.again();
    expect(await sent).toBe('OK');
  });

  it('is opened while the server is away, and comes about by itself', async () => {
    const port = await freePort();
    const { connection, clock } = await openConnection({ url: `redis://127.0.0.1:${String(port)}` });
    expect(connection.isUp).toBe(false);
    expectUnavailable(await timed(connection.send(['PING'])));
    await connection.close();
    expect(clock.pendingTimers).toBe(0);
    const server = await started();
    await server.kill();
    const later = await redisConnection(server);
    expect(later.isUp).toBe(false);
    await server.again();
    await until('the connection is there', () => later.isUp);
  });

  it('leaves a server that became a replica, and comes back when it is a master again', async () => {
    const server = await started();
    const connection = await redisConnection(server);
    expect(await server.ask('REPLICAOF', '127.0.0.1', '1')).toBe('+OK');
    // Whatever finds it out: the connection's own look would, a little later.
    await expect(connection.send(['SET', 'x', '1'])).rejects.toMatchObject({ details: { reason: 'READONLY' } });
    expect(connection.isUp).toBe(false);
    expect(await server.ask('REPLICAOF', 'NO', 'ONE')).toBe('+OK');
    await until('the connection is back', () => connection.isUp);
    expect(await connection.send(['SET', 'x', '1'])).toBe('OK');
  });

  it('leaves a server that says so from within a script', async () => {
    const server = await started();
    const connection = await redisConnection(server);
    await server.ask('REPLICAOF', '127.0.0.1', '1');
    const write = redisScript("return redis.call('SET', KEYS[1], ARGV[1])");
    await expect(connection.run(write, 'x', ['1'])).rejects.toMatchObject({ details: { reason: 'READONLY' } });
    expect(connection.isUp).toBe(false);
  });
});

describe('a server that is away for long', () => {
  it('fills no log: one line when it goes, one for each new reason to say no, one when it is back', async () => {
    const clock = new FakeClock();
    const gone = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const wrong = new Refusal('WRONGPASS invalid username-password pair or user is disabled.');
    let trouble: Error | undefined = gone;
    const createClient = (): FakeRedisClient => {
      const client = new FakeRedisClient();
      queueMicrotask(() => {
        if (trouble === undefined) client.accept();
        else client.emit('error', trouble);
      });
      return client;
    };
    const load = (): Promise<RedisPackage> => Promise.resolve({ isRefusal, createClient });
    const { logged } = await openConnection({ url: 'redis://127.0.0.1:1' }, { clock, load });
    for (const next of [gone, wrong, wrong, undefined]) {
      trouble = next;
      await clock.advanceAsync(30_000);
    }
    const lines = logged.map((line) => JSON.parse(line) as { level: string; err?: { reason: string } });
    expect(lines.map(({ level, err }) => [level, err?.reason])).toEqual([
      ['warn', 'ECONNREFUSED'],
      ['warn', 'WRONGPASS'],
      ['info', undefined],
    ]);
  });
});

describe('a process that stands still', () => {
  it('does not take its own pause for the server’s', async () => {
    const server = await started();
    const { connection, logged } = await openConnection(server);
    const sent = Promise.all([connection.send(['SET', 'x', '1']), connection.send(['GET', 'x'])]);
    // As a collection of garbage or a starved machine would: nothing is sent, and nothing read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REDIS_TIMEOUT_MS * 1.5);
    expect(await sent).toEqual(['OK', '1']);
    expect([connection.isUp, logged]).toEqual([true, []]);
  });
});

describe('a connection that is let in', () => {
  it('with a password, over TLS with a certificate of its authority', async () => {
    const authority = await certificateAuthority(systemClock.nowMs());
    const server = await started({ password: 'PASSWORD-CANARY', authority });
    const { connection, logged } = await openConnection(server, { password: 'PASSWORD-CANARY', caFile: server.caFile });
    expect(connection.isUp).toBe(true);
    expect(await connection.send(['PING'])).toBe('PONG');
    expect(logged).toEqual([]);
  });

  it('as a user of the server, who may not do everything', async () => {
    const server = await started();
    expect(await server.ask('ACL', 'SETUSER', 'parley', 'on', '>secret', '+get', '+ping')).toBe('+OK');
    const connection = await redisConnection(server, { user: 'parley', password: 'secret' });
    expect(connection.isUp).toBe(true);
    await expect(connection.send(['FLUSHALL'])).rejects.toMatchObject({ code: 'store_unavailable', details: { reason: 'NOPERM' } });
    expect(connection.isUp).toBe(true);
  });

  it('to the database of its address', async () => {
    const server = await started();
    const connection = await redisConnection({ url: `${server.url}/3` });
    await connection.send(['SET', 'x', '1']);
    expect(await server.ask('GET', 'x')).toBe('$-1');
    expect(await (await redisConnection({ url: `${server.url}/3` })).send(['GET', 'x'])).toBe('1');
  });
});

describe('a connection that is not let in', () => {
  it.each([
    ['has the wrong password', { password: 'WRONG-CANARY' }, 'WRONGPASS'],
    ['has none', {}, 'NOAUTH'],
  ])('goes on trying when it %s, and says so once and without the password', async (_, change, reason) => {
    const server = await started({ password: 'PASSWORD-CANARY' });
    const { connection, logged } = await openConnection(server, change);
    await until('it has been told', () => logged.length > 0);
    expectUnavailable(await timed(connection.send(['PING'])));
    expect(connection.isUp).toBe(false);
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] ?? '')).toMatchObject({ level: 'warn', err: { code: 'store_unavailable', reason } });
    expect(logged.join('')).not.toContain('CANARY');
  });

  it('refuses a server with a certificate of another authority', async () => {
    const server = await started({ authority: await certificateAuthority(systemClock.nowMs()) });
    const { connection, logged } = await openConnection(server);
    expect(connection.isUp).toBe(false);
    expect(logged.join('')).toMatch(/UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN/u);
  });

  it('refuses a server that goes by another name', async () => {
    const authority = await certificateAuthority(systemClock.nowMs());
    const server = await started({ authority });
    const { connection, logged } = await openConnection({ url: `rediss://127.0.0.1:${String(server.port)}` }, { caFile: server.caFile });
    expect(connection.isUp).toBe(false);
    expect(logged.join('')).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('is not opened with a CA file that is not there', async () => {
    await expect(openConnection({ url: 'redis://127.0.0.1:1' }, { caFile: '/nowhere/ca.pem' })).rejects.toMatchObject({
      code: 'config_invalid',
      details: { file: '/nowhere/ca.pem' },
    });
  });
});

describe('over one server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    if (hasRedis) server = await RedisServer.start();
  });
  afterAll(async () => {
    if (hasRedis) await server.stop();
  });

  it('a script runs that the server has never seen, and again after it has forgotten it', async () => {
    const connection = await redisConnection(server);
    const script = redisScript(`return { KEYS[1], ARGV[1], 7, false } -- ${randomUUID()}`);
    for (const flush of [false, true, false]) {
      if (flush) await server.ask('SCRIPT', 'FLUSH');
      expect(await connection.run(script, 'key', ['arg'])).toEqual(['key', 'arg', 7, null]);
    }
    expect(await connection.send(['SCRIPT', 'EXISTS', script.sha1])).toEqual([1]);
  });

  it('closing leaves no connection and no timer, and fails what waits', async () => {
    const { connection, clock } = await openConnection(server);
    const ours = async (): Promise<number> => ((await server.ask('CLIENT', 'LIST')).match(/ name=parley /gu) ?? []).length;
    await until('it is there', async () => (await ours()) === 1);
    const waiting = timed(connection.send(['BLPOP', 'nothing', '0']));
    await connection.close();
    expectUnavailable(await waiting);
    expectUnavailable(await timed(connection.send(['PING'])));
    expect(clock.pendingTimers).toBe(0);
    await until('the server sees none any more', async () => (await ours()) === 0);
    await connection.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
