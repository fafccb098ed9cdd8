// Deliveries on their way between two processes, over a real server.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DeliveryQueue } from '../../../../src/store/redis/delivery-queue.ts';
import { Seal } from '../../../../src/store/seal.ts';
import { requireDebian } from '../../../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { storeOn } from '../../../support/shared-admin.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

it('one that a process adds waits for the others, sealed, until it is removed', async () => {
  const [{ prefix, keys }, key] = [await storeOn(redis), randomBytes(32)];
  const queueOf = async (seal = new Seal(key)): Promise<DeliveryQueue> => new DeliveryQueue(await storeOn(redis, prefix), seal);
  const [one, other, foreign] = [await queueOf(), await queueOf(), await queueOf(new Seal(randomBytes(32)))];
  expect([await one.add('id', 'what it says'), await other.add('id', 'what it says')]).toEqual([true, false]);
  expect(await redis.ask('HGETALL', keys.deliveries)).not.toContain('what it says');
  expect(await other.waiting()).toEqual([{ id: 'id', text: 'what it says' }]);
  expect(await foreign.waiting()).toEqual([{ id: 'id', text: undefined }]);
  await other.remove('id');
  expect(await one.waiting()).toEqual([]);
});

it('no more wait than a thousand', async () => {
  const queue = new DeliveryQueue(await storeOn(redis), new Seal(randomBytes(32)));
  await Promise.all(Array.from({ length: 1000 }, (_, index) => queue.add(String(index), 'text')));
  await expect(queue.add('one more', 'text')).rejects.toMatchObject({ code: 'overloaded' });
});
