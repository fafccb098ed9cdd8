// What the user of the Redis server may do in a deployment: all that docs/shared-calls.md names, and nothing else, is enough for each
// thing that servers do there with calls, and that the administration does.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { RedisDirectory } from '../../../../src/cluster/redis-directory.ts';
import { RedisInstances } from '../../../../src/cluster/redis-instances.ts';
import { callsUse } from '../../../../src/cluster/redis-use.ts';
import { administrationUse, adminStore, type AdminStore } from '../../../../src/store/redis/admin-store.ts';
import { RedisConnection } from '../../../../src/store/redis/connection.ts';
import { DeliveryQueue } from '../../../../src/store/redis/delivery-queue.ts';
import { takeLease } from '../../../../src/store/redis/renewal-lease.ts';
import { commandsOf, EVERYWHERE, FOR_EXAMINATION } from '../../../../src/store/redis/rights.ts';
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
  const text = readFileSync(path.join(packageRoot(), 'docs', 'shared-calls.md'), 'utf8').replaceAll(/\s+/gu, ' ');
  const at = text.indexOf(sentence);
  if (at < 0) throw new Error(`docs/shared-calls.md does not say: ${sentence}`);
  const [, rights = ''] = text.slice(at).split('`');
  return rights.split(' ');
}

const FOR_CALLS = rightsAfter('that the user of the Redis server needs');
const FOR_ADMINISTRATION = rightsAfter('With the administration it needs');

/** As the user of a deployment has it whose keys begin with `parley`. */
async function limited(name: string, rights: readonly string[]): Promise<RedisConnection> {
  expect(await redis.ask('ACL', 'SETUSER', name, 'on', '>secret', '~parley:*', ...rights)).toBe('+OK');
  const connection = await RedisConnection.open({
    ...{ url: redis.url, user: name, password: 'secret', caFile: undefined, timeoutMs: 2000, clock: systemClock },
    log: createLogger({ level: 'silent' }),
  });
  onTestFinished(() => connection.close());
  return connection;
}

async function limitedAdmin(name: string, rights: readonly string[]): Promise<AdminStore> {
  return adminStore(await limited(name, rights), 'parley');
}

it('what the document names for calls is enough for everything that servers do with them, and all of it is used', async () => {
  await redis.ask('CONFIG', 'RESETSTAT');
  const [connection, seal] = [await limited('homes', FOR_CALLS), new Seal(randomBytes(32))];
  const directory = new RedisDirectory({ connection, seal, keyPrefix: 'parley', ttlMs: 60_000 });
  const [call, owner, heardAtMs] = [{ organizationId: 'org', conversationId: 'call' }, 'one', 1];
  expect(await directory.claim(call, { owner, mayCreate: true, beginsAnew: true, heardAtMs })).toMatchObject({ kind: 'mine' });
  expect(await directory.find(call)).toMatchObject({ kind: 'theirs' });
  expect(await directory.claim(call, { owner: 'two', mayCreate: false, isForced: true, heardAtMs })).toMatchObject({ takenFrom: ['one'] });
  const saved = { owner: 'two', epoch: 2, seq: 1, heardAtMs, snapshot: '{}' };
  expect(await directory.save(call, { ...saved, isRelease: false })).toEqual({ kind: 'saved' });
  expect(await directory.register(call, { owner, seq: 1, snapshot: '{}', heardAtMs: 2 })).toMatchObject({ kind: 'mine', epoch: 3 });
  expect(await directory.touch(call)).toBe(true);
  await directory.forget(call, { owner, epoch: 3 });
  const table = new RedisInstances({ connection, seal, keyPrefix: 'parley', log: createLogger({ level: 'silent' }) });
  const entry = { id: owner, address: '127.0.0.1:1', certificate: 'AB', version: 1, isDraining: false, counter: 1 };
  await table.notify(owner, { call, epoch: 4 });
  const { taken } = await table.beat(entry, []);
  expect((await table.beat(entry, taken)).taken).toEqual([]);
  await table.remove(entry);
  // The connection itself asks these, at its start and when it doubts.
  await connection.send(['PING']);
  const used = await redis.ask('INFO', 'commandstats');
  expect(FOR_CALLS.filter((right) => !used.includes(`cmdstat_${right.slice(1)}:`))).toEqual([]);
});

it('what the document names is enough for the administration, and all of it is used', async () => {
  await redis.ask('CONFIG', 'RESETSTAT');
  const [store, seal] = [await limitedAdmin('enough', [...FOR_CALLS, ...FOR_ADMINISTRATION]), new Seal(randomBytes(32))];
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
  const store = await limitedAdmin('calls', FOR_CALLS);
  await expect(takeLease({ store })).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('the list of users of the document gives these rights, the two that look after restarts, and no other', () => {
  const text = readFileSync(path.join(packageRoot(), 'docs', 'shared-calls.md'), 'utf8');
  const rights = /^ +user parley .*? -@all (?<rights>.+)$/mu.exec(text)?.groups?.['rights']?.split(' ');
  expect(rights).toEqual([...FOR_CALLS, ...FOR_ADMINISTRATION, ...FOR_EXAMINATION]);
});

it('the document names the commands that the program sends and that its scripts call', () => {
  const sorted = (commands: readonly string[]): readonly string[] => [...new Set(commands)].map((each) => `+${each.toLowerCase()}`).sort();
  const forCalls = [...EVERYWHERE, ...commandsOf(callsUse('parley'))];
  expect([...FOR_CALLS].sort()).toEqual(sorted(forCalls));
  const forAdministration = commandsOf(administrationUse('parley')).filter((command) => !forCalls.includes(command));
  expect([...FOR_ADMINISTRATION].sort()).toEqual(sorted(forAdministration));
});
