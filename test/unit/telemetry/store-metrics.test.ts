// What is shown of a real Redis server that answers and takes no writes.
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { timedDirectory } from '../../../src/app/timed-directory.ts';
import { RedisDirectory } from '../../../src/cluster/redis-directory.ts';
import { Seal } from '../../../src/store/seal.ts';
import { storeMetrics } from '../../../src/telemetry/store-metrics.ts';
import { requireDebian } from '../../support/debian.ts';
import { redisConnection } from '../../support/redis-connection.ts';
import { REDIS_NEEDS, RedisServer } from '../../support/redis-server.ts';

requireDebian(REDIS_NEEDS);

/** The longest `store.redis.timeout_ms`, s. */
const LONGEST_WAIT_S = 10;
const CALL = { organizationId: 'org', conversationId: 'call' };
const CLAIM = { owner: 'one', mayCreate: true, heardAtMs: 1 };
const SAVED = { owner: 'one', epoch: 1, snapshot: '{}', heardAtMs: 1 };

/** A directory on a server of its own, and what its gauge shows. */
async function measured() {
  const redis = await RedisServer.start();
  onTestFinished(() => redis.stop());
  const registry = new Registry();
  const metrics = storeMetrics(registry);
  const up = async (): Promise<unknown> => (await registry.getSingleMetric('parley_store_up')?.get())?.values[0]?.value;
  const connection = await redisConnection(redis);
  const calls = timedDirectory(new RedisDirectory({ connection, seal: new Seal(), keyPrefix: 'parley', ttlMs: 60_000 }), metrics);
  return { redis, metrics, up, calls };
}

it('parley_store_up is 0 while Redis is out of memory, whatever it reads, and 1 again with the next write', async () => {
  const { redis, metrics, up, calls } = await measured();
  expect(await calls.claim(CALL, CLAIM)).toMatchObject({ kind: 'mine' });
  expect(await up()).toBe(1);
  await redis.ask('CONFIG', 'SET', 'maxmemory', '1');
  await expect(calls.save(CALL, { ...SAVED, seq: 1 })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'the Redis server refused with OOM: it is out of memory and takes no writes',
  });
  expect(await calls.find(CALL)).toMatchObject({ kind: 'theirs', owner: 'one' });
  expect(await up()).toBe(0);
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
  expect(await calls.save(CALL, { ...SAVED, seq: 2 })).toMatchObject({ kind: 'saved' });
  expect(await up()).toBe(1);
  metrics.connected(false);
  expect(await up()).toBe(0);
});

it('parley_store_up is 1 again with the connection to another server, where the one before took no writes any more', async () => {
  const { redis, metrics, up, calls } = await measured();
  await redis.ask('REPLICAOF', '127.0.0.1', '1');
  await expect(calls.claim(CALL, CLAIM)).rejects.toMatchObject({ code: 'store_unavailable', details: { isRefused: true } });
  expect(await up()).toBe(0);
  metrics.connected(false);
  metrics.connected(true);
  expect(await up()).toBe(1);
});

it('the times of operations are told apart beyond the longest wait for an answer', async () => {
  const registry = new Registry();
  storeMetrics(registry);
  const bounds = [...(await registry.metrics()).matchAll(/parley_store_operation_seconds_bucket\{le="([\d.]+)"/gu)].map(([, le]) =>
    Number(le),
  );
  expect(Math.max(...bounds)).toBeGreaterThan(LONGEST_WAIT_S);
});
