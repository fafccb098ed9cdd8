// The shared store for a command, over a real server: the lease that is taken for a change is free again whatever becomes of the change.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { SharedCommandStore } from '../../../src/app/shared-command-store.ts';
import { createLogger } from '../../../src/base/log.ts';
import { SharedTexts } from '../../../src/store/redis/shared-texts.ts';
import { Seal } from '../../../src/store/seal.ts';
import { requireDebian } from '../../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../../support/redis-server.ts';
import { leaseOf, storeOn } from '../../support/shared-admin.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

const NO_SENTINELS = { sentinels: [], sentinelName: undefined, sentinelUser: undefined, sentinelPassword: undefined };

/** A command's store. */
async function commandOn(keyPrefix: string, key: Buffer, deposes: boolean): Promise<SharedCommandStore> {
  const command = await SharedCommandStore.open({
    redis: { url: redis.url, user: undefined, password: undefined, caFile: undefined, timeoutMs: 2000, keyPrefix, ...NO_SENTINELS },
    seal: new Seal(key),
    log: createLogger({ level: 'silent' }),
    ifHeld: 'stop it first',
    ...{ waits: false, deposes },
  });
  onTestFinished(() => command.close());
  return command;
}

it('L-10 a command that may depose writes while a server leads, which then leads no more, and can again', async () => {
  const [keyPrefix, key] = ['for-logins', randomBytes(32)];
  const store = await storeOn(redis, keyPrefix);
  const texts = await SharedTexts.open(store, new Seal(key));
  const lease = await leaseOf(store);
  await texts.ledBy(lease).set('a', 'of the server');
  await expect((await commandOn(keyPrefix, key, false)).set('a', 'refused')).rejects.toMatchObject({ code: 'store_failed' });
  const command = await commandOn(keyPrefix, key, true);
  await command.set('a', 'of the command');
  await expect(texts.ledBy(lease).set('b', 'too late')).rejects.toMatchObject({ code: 'store_failed' });
  expect([lease.isHeld, await command.isHeld(), await command.keys('')]).toEqual([false, false, ['a']]);
  await leaseOf(store);
  expect([(await texts.poll()).changed, texts.peek('a')]).toEqual([['a'], 'of the command']);
});

it('a change that cannot begin, because a text does not open any more, leaves the lease to others', async () => {
  const [keyPrefix, key] = ['for-commands', randomBytes(32)];
  const command = await commandOn(keyPrefix, key, false);
  await command.set('a', 'text');
  expect([await command.get('a'), await command.isHeld()]).toEqual(['text', false]);

  const store = await storeOn(redis, keyPrefix);
  const texts = await SharedTexts.open(store, new Seal(randomBytes(32), key));
  const lease = await leaseOf(store);
  await texts.ledBy(lease).set('b', 'of another key');
  await expect(command.set('c', 'text')).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('stop it first') as string,
  });
  await lease.giveBack();
  await expect(command.set('c', 'text')).rejects.toMatchObject({ code: 'store_failed' });
  expect([await command.isHeld(), await command.keys('')]).toEqual([false, ['a']]);
});
