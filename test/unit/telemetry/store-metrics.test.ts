// What is shown of a real Redis server that answers and takes no writes.
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { firstRecord } from '../../../src/session/snapshot/snapshot.ts';
import { RedisStore } from '../../../src/store/redis/redis-store.ts';
import { storeMetrics } from '../../../src/telemetry/store-metrics.ts';
import { requireDebian } from '../../support/debian.ts';
import { redisConnection } from '../../support/redis-connection.ts';
import { REDIS_NEEDS, RedisServer } from '../../support/redis-server.ts';

requireDebian(REDIS_NEEDS);

/** The longest `store.redis.timeout_ms`, s. */
const LONGEST_WAIT_S = 10;
const CALL = { organizationId: 'org', conversationId: 'call', agentId: 'bot', startedAtMs: 0, vendorConfig: '', parameters: {} };

/** A store on a server of its own, and what its gauge shows. */
async function measured() {
  const redis = await RedisServer.start();
  onTestFinished(() => redis.stop());
  const registry = new Registry();
  const metrics = storeMetrics(registry);
  const up = async (): Promise<unknown> => (await registry.getSingleMetric('parley_store_up')?.get())?.values[0]?.value;
  const connection = await redisConnection(redis);
  const times = { leaseMs: 2000, ttlMs: 60_000, maxRecordBytes: 65_536 };
  const store = metrics.timed(new RedisStore({ connection, owner: 'one', keyPrefix: 'parley', ...times }));
  return { redis, metrics, up, store };
}

it('parley_store_up is 0 while Redis is out of memory, whatever it reads, and 1 again with the next write', async () => {
  const { redis, metrics, up, store } = await measured();
  const record = { ...firstRecord({ call: CALL, bot: { id: 'bot', version: 1 }, mode: 'chunk' }), version: 1 };
  expect(await store.commit(record, 0)).toBe(true);
  expect(await up()).toBe(1);
  await redis.ask('CONFIG', 'SET', 'maxmemory', '1');
  await expect(store.commit({ ...record, version: 2 }, 1)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'the Redis server refused with OOM: it is out of memory and takes no writes',
  });
  expect((await store.load(CALL))?.version).toBe(1);
  expect(await up()).toBe(0);
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
  expect(await store.commit({ ...record, version: 2 }, 1)).toBe(true);
  expect(await up()).toBe(1);
  metrics.connected(false);
  expect(await up()).toBe(0);
});

it('parley_store_up is 1 again with the connection to another server, where the one before took no writes any more', async () => {
  const { redis, metrics, up, store } = await measured();
  await redis.ask('REPLICAOF', '127.0.0.1', '1');
  const record = { ...firstRecord({ call: CALL, bot: { id: 'bot', version: 1 }, mode: 'chunk' }), version: 1 };
  await expect(store.commit(record, 0)).rejects.toMatchObject({ code: 'store_unavailable', details: { isRefused: true } });
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
