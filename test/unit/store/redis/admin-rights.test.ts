// What the user of the Redis server may do in a deployment with an administration: all that docs/operations.md names, and nothing
// else, is enough for each thing that the administration does there.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { adminStore, type AdminStore } from '../../../../src/store/redis/admin-store.ts';
import { RedisConnection } from '../../../../src/store/redis/connection.ts';
import { DeliveryQueue } from '../../../../src/store/redis/delivery-queue.ts';
import { takeLease } from '../../../../src/store/redis/renewal-lease.ts';
import { SharedTexts } from '../../../../src/store/redis/shared-texts.ts';
import { Seal } from '../../../../src/store/seal.ts';
import { requireDebian } from '../../../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

/** The commands that stand behind a sentence of the document, as an ACL has them. */
function rightsAfter(sentence: string): readonly string[] {
  const text = readFileSync(path.join(packageRoot(), 'docs', 'operations.md'), 'utf8').replaceAll(/\s+/gu, ' ');
  const at = text.indexOf(sentence);
  if (at < 0) throw new Error(`docs/operations.md does not say: ${sentence}`);
  const [, rights = ''] = text.slice(at).split('`');
  return rights.split(' ');
}

const FOR_CALLS = rightsAfter('that the user of the Redis server needs');
const FOR_ADMINISTRATION = rightsAfter('With the administration it needs');

/** As the user of a deployment has it whose keys begin with `parley`. */
async function limited(name: string, rights: readonly string[]): Promise<AdminStore> {
  expect(await redis.ask('ACL', 'SETUSER', name, 'on', '>secret', '~parley:*', '&parley:*', ...rights)).toBe('+OK');
  const connection = await RedisConnection.open({
    ...{ url: redis.url, user: name, password: 'secret', caFile: undefined, timeoutMs: 2000, clock: systemClock },
    log: createLogger({ level: 'silent' }),
  });
  onTestFinished(() => connection.close());
  return adminStore(connection, 'parley');
}

it('what the document names is enough for everything, and all of it is used', async () => {
  await redis.ask('CONFIG', 'RESETSTAT');
  const [store, seal] = [await limited('enough', [...FOR_CALLS, ...FOR_ADMINISTRATION]), new Seal(randomBytes(32))];
  const texts = await SharedTexts.open(store, seal);
  const taken = await takeLease({ store });
  if (taken.kind !== 'ours') throw new Error('nobody else is there');
  expect(await takeLease({ store })).toMatchObject({ kind: 'held' });
  const { lease } = taken;
  await lease.confirm();

  const led = texts.ledBy(lease);
  await led.set('goes', 'text');
  await led.delete('goes');
  await led.set('stays', 'text');
  await led.rewrite();
  expect(await (await SharedTexts.open(store, seal)).keys('')).toEqual(['stays']);

  const queue = new DeliveryQueue(store, seal);
  expect([await queue.add('id', 'text'), await queue.add('id', 'text')]).toEqual([true, false]);
  expect(await queue.waiting()).toEqual([{ id: 'id', text: 'text' }]);
  await queue.remove('id');
  await lease.giveBack();
  expect((await texts.poll()).leader).toBe('');
  const used = await redis.ask('INFO', 'commandstats');
  expect(FOR_ADMINISTRATION.filter((right) => !used.includes(`cmdstat_${right.slice(1)}:`))).toEqual([]);
  expect(FOR_ADMINISTRATION.filter((right) => FOR_CALLS.includes(right))).toEqual([]);
});

it('what it names for calls alone is not enough', async () => {
  const store = await limited('calls', FOR_CALLS);
  await expect(takeLease({ store })).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('the list of users of the document gives these rights, the two that look after restarts, and no other', () => {
  const text = readFileSync(path.join(packageRoot(), 'docs', 'operations.md'), 'utf8');
  const rights = /^ +user parley .*? -@all (?<rights>.+)$/mu.exec(text)?.groups?.['rights']?.split(' ');
  expect(rights).toEqual([...FOR_CALLS, ...FOR_ADMINISTRATION, '+info', '+acl|dryrun']);
});
