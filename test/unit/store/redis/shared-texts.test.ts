// The shared secrets over a real Redis server: what the leader writes the others read, and nobody else writes.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AdminStore } from '../../../../src/store/redis/admin-store.ts';
import { SharedTexts, type LeaderTexts } from '../../../../src/store/redis/shared-texts.ts';
import { Seal } from '../../../../src/store/seal.ts';
import { requireDebian } from '../../../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { leaseOf, storeOn } from '../../../support/shared-admin.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

interface Process {
  readonly store: AdminStore;
  readonly texts: SharedTexts;
  readonly lead: () => Promise<LeaderTexts>;
}

/** Processes of one deployment. */
function deployment(key = randomBytes(32), prefix = randomBytes(8).toString('hex')) {
  const process = async (seal = new Seal(key)): Promise<Process> => {
    const store = await storeOn(redis, prefix);
    const texts = await SharedTexts.open(store, seal);
    return { store, texts, lead: async () => texts.ledBy(await leaseOf(store)) };
  };
  return { key, process };
}

const changedAt = async ({ texts }: Process): Promise<readonly string[]> => (await texts.poll()).changed;

describe('texts of the leader', () => {
  it('are read by every other process with its next poll, changes and deletions alike', async () => {
    const { process } = deployment();
    const [one, other] = [await process(), await process()];
    const led = await one.lead();
    for (const name of ['a/1', 'a/2', 'b']) await led.set(name, `first of ${name}`);
    expect([await led.get('a/1'), await other.texts.get('a/1')]).toEqual(['first of a/1', undefined]);
    expect(await changedAt(other)).toEqual(['a/1', 'a/2', 'b']);
    expect([await other.texts.get('a/1'), await other.texts.keys('a/')]).toEqual(['first of a/1', ['a/1', 'a/2']]);

    await led.set('a/1', 'another');
    await led.delete('b');
    await led.delete('never there');
    expect(await changedAt(other)).toEqual(['a/1', 'b']);
    expect([other.texts.peek('a/1'), other.texts.peek('b'), await other.texts.keys('')]).toEqual(['another', undefined, ['a/1', 'a/2']]);
    expect(await changedAt(other)).toEqual([]);
    expect(await (await process()).texts.keys('')).toEqual(['a/1', 'a/2']);
  });

  it('lie in Redis sealed, each bound to its name', async () => {
    const { process } = deployment();
    const one = await process();
    const led = await one.lead();
    await led.set('a', 'the secret of a');
    await led.set('b', 'the secret of b');
    const { texts } = one.store.keys;
    expect(await redis.ask('HGETALL', texts)).not.toContain('the secret');
    const sealed = (await redis.ask('HGET', texts, 'a')).split('\r\n')[1] ?? '';
    await redis.ask('HSET', texts, 'b', sealed);
    await expect(process()).rejects.toMatchObject({ code: 'store_failed' });
  });

  it('do not open for a process with another key', async () => {
    const { process } = deployment();
    await (await (await process()).lead()).set('a', 'text');
    await expect(process(new Seal(randomBytes(32)))).rejects.toMatchObject({ code: 'store_failed' });
  });

  it('stay as they were known where new ones do not open, until the key comes', async () => {
    const { key, process } = deployment();
    const [next, seal] = [randomBytes(32), new Seal(key)];
    const [one, late] = [await process(new Seal(next, key)), await process(seal)];
    const old = await process();
    const lease = await leaseOf(old.store);
    for (const name of ['a', 'b']) await old.texts.ledBy(lease).set(name, 'before');
    await late.texts.poll();
    await lease.giveBack();
    await one.texts.poll();
    const led = await one.lead();
    await led.set('b', 'after');
    await led.set('c', 'new');
    expect([await changedAt(late), late.texts.peek('b')]).toEqual([[], 'before']);
    expect(() => {
      late.texts.demandReadable();
    }).toThrow(/another key/u);
    await led.delete('a');
    expect(await changedAt(late)).toEqual(['a']);

    // While a poll is under way that Redis has not answered yet.
    const polling = late.texts.poll();
    seal.renew(next);
    late.texts.readAll();
    expect((await polling).changed).toEqual([]);
    expect(await changedAt(late)).toEqual(['b', 'c']);
    expect([late.texts.peek('b'), await late.texts.keys('')]).toEqual(['after', ['b', 'c']]);
    late.texts.demandReadable();
  });

  it('are sealed anew with the first key when they are rewritten', async () => {
    const { key, process } = deployment();
    const first = await process();
    const lease = await leaseOf(first.store);
    await first.texts.ledBy(lease).set('a', 'text');
    await lease.giveBack();
    const next = randomBytes(32);
    await (await (await process(new Seal(next, key))).lead()).rewrite();
    expect((await process(new Seal(next))).texts.peek('a')).toBe('text');
  });

  it('are read in steps when there are many, and none is missed', async () => {
    const { process } = deployment();
    const led = await (await process()).lead();
    const names = Array.from({ length: 450 }, (_, index) => `name-${String(index).padStart(3, '0')}`);
    await Promise.all(names.map((name) => led.set(name, 'text')));
    expect(await (await process()).texts.keys('name-')).toEqual(names);
  });
});

describe('a write', () => {
  it('L-10 of a deposed leader is refused by Redis itself, and changes nothing anywhere', async () => {
    const { process } = deployment();
    const [old, next, other] = [await process(), await process(), await process()];
    const refusals: unknown[] = [];
    const { token } = await leaseOf(old.store);
    const deposed = old.texts.ledBy({ token, lose: (why) => refusals.push(why?.code) });
    await deposed.set('a', 'old');
    // As its lease ends by itself: it knows nothing of it.
    await redis.ask('DEL', old.store.keys.lease);
    await expect(deposed.set('a', 'too late')).rejects.toMatchObject({ code: 'store_failed' });
    await (await next.lead()).set('a', 'new');

    await expect(deposed.set('a', 'late')).rejects.toMatchObject({ code: 'store_failed' });
    await expect(deposed.delete('a')).rejects.toMatchObject({ code: 'store_failed' });
    expect(refusals).toEqual(Array(3).fill('store_failed'));
    await other.texts.poll();
    expect([other.texts.peek('a'), old.texts.peek('a')]).toEqual(['new', 'old']);
    await old.texts.poll();
    expect(old.texts.peek('a')).toBe('new');
  });

  it('beyond the bounds of names and texts changes nothing', async () => {
    const led = await (await deployment().process()).lead();
    await expect(led.set('x'.repeat(201), 'text')).rejects.toBeInstanceOf(RangeError);
    await expect(led.set('a', 'x'.repeat(64 * 1024 + 1))).rejects.toBeInstanceOf(RangeError);
    expect(await led.keys('')).toEqual([]);
  });

  it('fails with store_failed while Redis is away, and is not made here either', async () => {
    const own = await RedisServer.start();
    onTestFinished(async () => {
      own.resume();
      await own.stop();
    });
    const store = await storeOn(own, 'away', 300);
    const texts = await SharedTexts.open(store, new Seal(randomBytes(32)));
    const led = texts.ledBy(await leaseOf(store));
    await led.set('a', 'text');
    own.hang();
    await expect(led.set('a', 'another')).rejects.toMatchObject({ code: 'store_failed' });
    await expect(texts.poll()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(texts.peek('a')).toBe('text');
  });
});
