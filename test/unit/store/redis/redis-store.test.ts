import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { createLogger } from '../../../../src/base/log.ts';
import type { Spoken } from '../../../../src/session/heard.ts';
import { firstRecord, type SessionRecord } from '../../../../src/session/record.ts';
import { RedisConnection } from '../../../../src/store/redis/connection.ts';
import { RedisStore, type RedisStoreOptions } from '../../../../src/store/redis/redis-store.ts';
import { Seal } from '../../../../src/store/seal.ts';
import { SealingStore } from '../../../../src/store/sealing.ts';
import { sessionStoreSuite, sharedStoreSuite } from '../../../suites/session-store.ts';
import { requireDebian } from '../../../support/debian.ts';
import { redisConnection } from '../../../support/redis-connection.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { until } from '../../../support/until.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
const CALL = { organizationId: 'org', conversationId: 'call', agentId: 'a', startedAtMs: 1, vendorConfig: '', parameters: {} };
const SPOKEN: Spoken = { by: 'a clock', tellings: 0, prompts: [], isWhole: true, before: { ms: 0, text: 'Hello' } };
const TTL_MS = 600_000;
const LEASE_MS = 20_000;
/** Races between two writers. */
const RACES = 200;

let server: RedisServer;
/** Of two processes. */
let connections: readonly [RedisConnection, RedisConnection];

beforeAll(async () => {
  if (!hasRedis) return;
  server = await RedisServer.start();
  connections = [await connectionOfAll(), await connectionOfAll()];
});
afterAll(async () => {
  if (!hasRedis) return;
  await Promise.all(connections.map((connection) => connection.close()));
  await server.stop();
});

/** One that many tests use, so that they need not wait for it. */
function connectionOfAll(): Promise<RedisConnection> {
  const nobody = { user: undefined, password: undefined, caFile: undefined };
  return RedisConnection.open({
    url: server.url,
    ...nobody,
    timeoutMs: 10_000,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
  });
}

function storeOf(connection: RedisConnection, change: Partial<RedisStoreOptions> = {}): RedisStore {
  const usual = { owner: randomUUID(), keyPrefix: randomUUID(), leaseMs: LEASE_MS, ttlMs: TTL_MS, maxRecordBytes: 100_000 };
  return new RedisStore({ connection, ...usual, ...change });
}

function record(change: Partial<SessionRecord> = {}): SessionRecord {
  return { ...firstRecord({ call: CALL, bot: { id: 'a', version: 1 }, mode: 'chunk' }), version: 1, ...change };
}

/** The one key of a store. */
async function keyOf(keyPrefix: string): Promise<string> {
  const [key, ...others] = (await connections[0].send(['KEYS', `${keyPrefix}:*`])) as readonly string[];
  if (key === undefined || others.length > 0) throw new Error('the store has not exactly one key');
  return key;
}

async function leftMs(key: string): Promise<number> {
  return Number(await connections[0].send(['PTTL', key]));
}

sessionStoreSuite('the Redis store', () => storeOf(connections[0]));
sessionStoreSuite('the Redis store behind a seal', () => new SealingStore(storeOf(connections[0]), new Seal()));

sharedStoreSuite('the Redis store of two processes', (leaseMs, leaseMsOfOther) => {
  const keyPrefix = randomUUID();
  return {
    one: storeOf(connections[0], { keyPrefix, leaseMs }),
    other: storeOf(connections[1], { keyPrefix, leaseMs: leaseMsOfOther }),
  };
});

sharedStoreSuite('the Redis store of two processes behind the same seal', (leaseMs, leaseMsOfOther) => {
  const keyPrefix = randomUUID();
  const seal = new Seal();
  return {
    one: new SealingStore(storeOf(connections[0], { keyPrefix, leaseMs }), seal),
    other: new SealingStore(storeOf(connections[1], { keyPrefix, leaseMs: leaseMsOfOther }), seal),
  };
});

describe('two processes that commit at once', () => {
  it(`find exactly one winner, ${String(RACES)} times, whose record stays`, async () => {
    const keyPrefix = randomUUID();
    const [one, other] = [storeOf(connections[0], { keyPrefix }), storeOf(connections[1], { keyPrefix })];
    await one.commit(record(), 0);
    const won = [0, 0];
    for (let version = 1; version <= RACES; version += 1) {
      const results = await Promise.all(
        [one, other].map((store, index) => store.commit(record({ version: version + 1, turns: index }), version)),
      );
      expect([...results].sort()).toEqual([false, true]);
      const winner = results.indexOf(true);
      won[winner] = (won[winner] ?? 0) + 1;
      expect(await one.load(CALL)).toEqual(record({ version: version + 1, turns: winner }));
    }
    expect((won[0] ?? 0) + (won[1] ?? 0)).toBe(RACES);
  });
});

describe('a call in the server', () => {
  it('is found under a name without its ids, below the prefix', async () => {
    const keyPrefix = randomUUID();
    await storeOf(connections[0], { keyPrefix }).commit(record(), 0);
    expect(await keyOf(keyPrefix)).toMatch(new RegExp(`^${keyPrefix}:call:[\\w-]{43}$`, 'u'));
  });

  it('is another one for an installation with another prefix', async () => {
    await storeOf(connections[0], { keyPrefix: 'one' }).commit(record(), 0);
    const other = storeOf(connections[0], { keyPrefix: 'other' });
    expect(await other.load(CALL)).toBeUndefined();
    expect((await other.claim(CALL, undefined)).kind).toBe('ours');
  });

  it('is forgotten by itself, and kept again for the whole time by whatever is done to it', async () => {
    const keyPrefix = randomUUID();
    const store = storeOf(connections[0], { keyPrefix });
    await store.commit(record(), 0);
    const key = await keyOf(keyPrefix);
    let version = 1;
    const uses = [
      () => store.open(CALL),
      () => store.claim(CALL, undefined),
      () => store.renew(CALL),
      () => store.commit(record({ version: (version += 1) }), version - 1, true),
      () => store.release(CALL, SPOKEN),
      () => store.openClaimed(CALL, undefined),
      () => store.touch(CALL),
    ];
    for (const use of uses) {
      await connections[0].send(['PEXPIRE', key, '30000']);
      await use();
      expect(await leftMs(key)).toBeGreaterThan(TTL_MS - 60_000);
      expect(await leftMs(key)).toBeLessThanOrEqual(TTL_MS);
    }
  });

  it('that never came to a record is gone with its lease', async () => {
    const keyPrefix = randomUUID();
    const store = storeOf(connections[0], { keyPrefix });
    for (const use of [() => store.open(CALL), () => store.claim(CALL, undefined), () => store.renew(CALL)]) {
      await use();
      const key = await keyOf(keyPrefix);
      expect(await leftMs(key)).toBeGreaterThan(0);
      expect(await leftMs(key)).toBeLessThanOrEqual(LEASE_MS);
      await store.release(CALL, SPOKEN);
      expect((await leftMs(key)) <= LEASE_MS).toBe(true);
      expect(await store.load(CALL)).toBeUndefined();
    }
    await store.drop(CALL);
    await store.claim(CALL, undefined);
    await store.release(CALL, SPOKEN);
    expect(await connections[0].send(['KEYS', `${keyPrefix}:*`])).toEqual([]);
  });

  it('is kept for the whole time from its first claim on, when that says how it begins', async () => {
    const keyPrefix = randomUUID();
    const store = storeOf(connections[0], { keyPrefix });
    const first = record({ version: 0 });
    for (const use of [() => store.openClaimed(CALL, first), () => store.renew(CALL), () => store.release(CALL, undefined)]) {
      await use();
      expect(await leftMs(await keyOf(keyPrefix))).toBeGreaterThan(TTL_MS - 60_000);
      expect(await store.load(CALL)).toEqual(first);
    }
  });

  it('does not begin with more than a record may have', async () => {
    const store = storeOf(connections[0], { maxRecordBytes: 1000 });
    expect((await store.claim(CALL, record({ state: 'x'.repeat(1000) }))).kind).toBe('ours');
    expect(await store.load(CALL)).toBeUndefined();
  });

  it('has a lease that each renewal makes longer', async () => {
    const keyPrefix = randomUUID();
    const store = storeOf(connections[0], { keyPrefix });
    await store.claim(CALL, undefined);
    const key = await keyOf(keyPrefix);
    const ends = async (): Promise<number> => Number(await connections[0].send(['HGET', key, 'until']));
    const first = await ends();
    await until('the lease ends later', async () => (await store.renew(CALL)) && (await ends()) > first);
    await store.commit(record(), 0);
    const second = await ends();
    let version = 1;
    await until('the lease ends later', async () => {
      await store.commit(record({ version: (version += 1) }), version - 1);
      return (await ends()) > second;
    });
  });

  it('survives a server that forgets its scripts', async () => {
    const store = storeOf(connections[0]);
    await store.commit(record(), 0);
    await server.ask('SCRIPT', 'FLUSH');
    expect((await store.claim(CALL, undefined)).kind).toBe('ours');
    expect(await store.commit(record({ version: 2 }), 1, true)).toBe(true);
  });

  it('is told frozen, what is heard of it as well', async () => {
    const store = storeOf(connections[0]);
    await store.claim(CALL, undefined);
    await store.commit(record(), 0, true);
    await store.release(CALL, { ...SPOKEN, prompts: [{ bargeIn: true, startMs: 0, endMs: 5, soundMs: 5 }] });
    const spoken = (await store.open(CALL)).kept?.spoken;
    for (const part of [spoken, spoken?.prompts, spoken?.prompts[0], spoken?.before]) {
      expect(part).toBeTypeOf('object');
      expect(Object.isFrozen(part)).toBe(true);
    }
  });
});

describe('what does not fit', () => {
  it('is refused as a record, and nothing is written', async () => {
    const store = storeOf(connections[0], { maxRecordBytes: 1000 });
    const tooLarge = record({ state: 'ü'.repeat(500) });
    await expect(store.commit(tooLarge, 0)).rejects.toMatchObject({ name: 'AppError', code: 'bot_failed', details: { limitBytes: 1000 } });
    expect(await store.load(CALL)).toBeUndefined();
    expect(await store.commit(record(), 0)).toBe(true);
  });

  it('is not told as words, and the call is released all the same', async () => {
    const keyPrefix = randomUUID();
    const [one, other] = [0, 1].map(() => storeOf(connections[0], { keyPrefix, maxRecordBytes: 1000 }));
    if (one === undefined || other === undefined) throw new Error('unreachable');
    await one.commit(record(), 0, true);
    await one.release(CALL, { ...SPOKEN, before: { ms: 1, text: 'x'.repeat(1000) } });
    expect(await other.claim(CALL, undefined)).toEqual({ kind: 'ours', kept: { record: record(), spoken: undefined } });
  });

  it.each(['', 'no JSON', 'null', '[]', '7', '{}', '{"version":"1","call":{}}'])('is no record: %s', async (damaged) => {
    const keyPrefix = randomUUID();
    const store = storeOf(connections[0], { keyPrefix });
    await store.commit(record(), 0);
    await connections[0].send(['HSET', await keyOf(keyPrefix), 'record', damaged]);
    for (const look of [() => store.load(CALL), () => store.open(CALL), () => store.claim(CALL, undefined)]) {
      await expect(look()).rejects.toMatchObject({ name: 'AppError', code: 'state_unreadable' });
    }
  });

  it('is nothing that was told: damaged words', async () => {
    const keyPrefix = randomUUID();
    const store = storeOf(connections[0], { keyPrefix });
    await store.commit(record(), 0);
    await connections[0].send(['HSET', await keyOf(keyPrefix), 'spoken', '{"prompts":7}', 'told_at', '1']);
    await expect(store.open(CALL)).rejects.toMatchObject({ code: 'state_unreadable' });
  });
});

describe('a store whose user may do no more than it needs', () => {
  it('does all it has to', async () => {
    const commands = ['evalsha', 'eval', 'time', 'hget', 'hmget', 'hset', 'hsetnx', 'hincrby', 'hdel', 'del', 'pexpire', 'ping', 'role'];
    const rules = ['on', '>secret', '~parley:*', ...commands.map((command) => `+${command}`)];
    expect(await server.ask('ACL', 'SETUSER', 'parley', ...rules)).toBe('+OK');
    const store = storeOf(await redisConnection(server, { user: 'parley', password: 'secret' }), { keyPrefix: 'parley' });
    await store.open(CALL);
    expect(await store.claim(CALL, undefined)).toEqual({ kind: 'ours', kept: undefined });
    expect(await store.commit(record(), 0, true)).toBe(true);
    expect(await store.renew(CALL)).toBe(true);
    await store.release(CALL, SPOKEN);
    expect(await store.serves(CALL)).toBe(true);
    expect((await store.open(CALL)).kept?.spoken?.before).toEqual(SPOKEN.before);
    await store.drop(CALL);
    expect(await store.load(CALL)).toBeUndefined();
  });
});

describe('a store whose server is away', () => {
  it('says so from every method, and goes on when it is back', async () => {
    const own = await RedisServer.start();
    try {
      const store = storeOf(await redisConnection(own));
      await store.commit(record(), 0);
      await own.kill();
      const methods = [
        () => store.load(CALL),
        () => store.open(CALL),
        () => store.serves(CALL),
        () => store.claim(CALL, undefined),
        () => store.renew(CALL),
        () => store.commit(record({ version: 2 }), 1),
        () => store.release(CALL, SPOKEN),
        () => store.openClaimed(CALL, undefined),
        () => store.touch(CALL),
        () => store.drop(CALL),
      ];
      await Promise.all(methods.map((method) => expect(method()).rejects.toMatchObject({ code: 'store_unavailable' })));
      await own.again();
      await until('it is back', async () => (await store.load(CALL).catch(() => null)) === undefined);
      expect(await store.commit(record(), 0)).toBe(true);
    } finally {
      await own.stop();
    }
  });
});
