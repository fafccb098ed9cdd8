// What the user of the Redis server may do in a deployment with an administration: all that docs/operations.md names, and nothing
// else, is enough for each thing that the administration does there.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { adminPlace, NEWS, sharedServer, type SharedServer } from '../../../../src/store/redis/admin-place.ts';
import { RedisConnection } from '../../../../src/store/redis/connection.ts';
import { DeliveryQueue } from '../../../../src/store/redis/delivery-queue.ts';
import { isOwned, takeOwnership } from '../../../../src/store/redis/owner-lease.ts';
import { SharedTexts } from '../../../../src/store/redis/shared-texts.ts';
import { Seal } from '../../../../src/store/seal.ts';
import { requireDebian } from '../../../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { until } from '../../../support/until.ts';

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
async function limited(name: string, rights: readonly string[]): Promise<SharedServer> {
  expect(await redis.ask('ACL', 'SETUSER', name, 'on', '>secret', '~parley:*', '&parley:*', ...rights)).toBe('+OK');
  const connection = await RedisConnection.open({
    ...{ url: redis.url, user: name, password: 'secret', caFile: undefined, timeoutMs: 2000, clock: systemClock },
    log: createLogger({ level: 'silent' }),
  });
  onTestFinished(() => connection.close());
  return sharedServer(connection);
}

it('what the document names is enough for everything, and all of it is used', async () => {
  await redis.ask('CONFIG', 'RESETSTAT');
  const [server, place, seal] = [
    await limited('enough', [...FOR_CALLS, ...FOR_ADMINISTRATION]),
    adminPlace('parley'),
    new Seal(randomBytes(32)),
  ];
  const heard: string[] = [];
  onTestFinished(server.listen(place.news, (news) => heard.push(news)));
  await until('it listens', async () => (await redis.ask('PUBLISH', place.news, 'hello')) === ':1');
  const texts = await SharedTexts.open({ server, place, seal });
  const taken = await takeOwnership({ server, place }, texts.claim);
  if (taken.kind !== 'ours') throw new Error('nobody else is there');
  expect(await takeOwnership({ server, place }, texts.claim)).toMatchObject({ kind: 'held' });
  expect(await isOwned({ server, place })).toBe(true);
  const { lease } = taken;
  await lease.confirm();

  const owned = texts.owned(lease.token, (error) => {
    throw error;
  });
  // So many are gone that the oldest are not told any more.
  const names = Array.from({ length: 2200 }, (_, index) => `name-${String(index)}`);
  for (const value of ['text', undefined]) {
    for (let at = 0; at < names.length; at += 200) await owned.apply(names.slice(at, at + 200).map((key) => ({ key, value })));
  }
  await owned.set('stays', 'text');
  await owned.rewrite();
  expect(await (await SharedTexts.open({ server, place, seal })).keys('')).toEqual(['stays']);
  // It has lost something, and is given everything again.
  await redis.ask('HSET', place.state, 'revision', '1');
  expect((await texts.look()).changed).toEqual([]);
  await owned.restore();
  expect(texts.hasLost).toBe(false);

  const queue = new DeliveryQueue({ server, place, seal });
  expect([await queue.put('id', 'text'), await queue.put('id', 'text')]).toEqual([true, false]);
  expect(await queue.waiting()).toEqual([{ id: 'id', text: 'text' }]);
  await queue.remove('id');
  await lease.giveBack();
  expect(await isOwned({ server, place })).toBe(false);
  await until('all of it is heard', () => [NEWS.texts, NEWS.deliveries, NEWS.free].every((news) => heard.includes(news)));
  const used = await redis.ask('INFO', 'commandstats');
  expect(FOR_ADMINISTRATION.filter((right) => !used.includes(`cmdstat_${right.slice(1)}:`))).toEqual([]);
  expect(FOR_ADMINISTRATION.filter((right) => FOR_CALLS.includes(right))).toEqual([]);
});

it('what it names for calls alone is not enough', async () => {
  const server = await limited('calls', FOR_CALLS);
  await expect(takeOwnership({ server, place: adminPlace('parley') })).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('the list of users of the document gives these rights, the two that look after restarts, and no other', () => {
  const text = readFileSync(path.join(packageRoot(), 'docs', 'operations.md'), 'utf8');
  const rights = /^ +user parley .*? -@all (?<rights>.+)$/mu.exec(text)?.groups?.['rights']?.split(' ');
  expect(rights).toEqual([...FOR_CALLS, ...FOR_ADMINISTRATION, '+info', '+acl|dryrun']);
});
