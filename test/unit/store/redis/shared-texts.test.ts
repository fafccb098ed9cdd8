// The shared secrets over a real server: what one process writes others read, and nobody writes who has been deposed.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SharedServer } from '../../../../src/store/redis/admin-place.ts';
import type { OwnedTexts } from '../../../../src/store/redis/owned-texts.ts';
import { SharedTexts } from '../../../../src/store/redis/shared-texts.ts';
import { Seal } from '../../../../src/store/seal.ts';
import { requireDebian } from '../../../support/debian.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { owning, ownPlace, processOn, textsOf, type Deployment } from '../../../support/shared-admin.ts';
import { until } from '../../../support/until.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

const deployment = (): Deployment => ({ place: ownPlace(), key: randomBytes(32) });
const never = (error: Error): void => {
  throw error;
};

interface Process {
  readonly server: SharedServer;
  readonly texts: SharedTexts;
  /** Becomes the owner. */
  readonly own: () => Promise<OwnedTexts>;
}

async function openProcess(given: Deployment, on = redis): Promise<Process> {
  const server = await processOn(on);
  const texts = await textsOf(given, server);
  return { server, texts, own: async () => texts.owned((await owning(given.place, server, texts.claim)).token, never) };
}

describe('texts of the owner', () => {
  it('are read by every other process after its next look, changes and removals alike', async () => {
    const given = deployment();
    const [one, other] = [await openProcess(given), await openProcess(given)];
    const owned = await one.own();
    await owned.apply([
      { key: 'a/1', value: 'first' },
      { key: 'a/2', value: 'second' },
      { key: 'b', value: 'third' },
    ]);
    expect([await owned.get('a/1'), await other.texts.get('a/1')]).toEqual(['first', undefined]);
    expect((await other.texts.look()).changed).toEqual(['a/1', 'a/2', 'b']);
    expect([await other.texts.get('a/1'), await other.texts.keys('a/')]).toEqual(['first', ['a/1', 'a/2']]);

    await owned.set('a/1', 'another');
    await owned.delete('b');
    expect((await other.texts.look()).changed).toEqual(['a/1', 'b']);
    expect([other.texts.peek('a/1'), other.texts.peek('b'), await other.texts.keys('')]).toEqual(['another', undefined, ['a/1', 'a/2']]);
    expect((await other.texts.look()).changed).toEqual([]);
  });

  it('are there for a process that is started later', async () => {
    const given = deployment();
    await (await (await openProcess(given)).own()).set('a', 'text');
    expect(await (await openProcess(given)).texts.get('a')).toBe('text');
  });

  it('lie on the server sealed, each bound to its name', async () => {
    const given = deployment();
    const one = await openProcess(given);
    const owned = await one.own();
    await owned.apply([
      { key: 'a', value: 'the secret of a' },
      { key: 'b', value: 'the secret of b' },
    ]);
    const { texts } = given.place;
    expect(await redis.ask('HGETALL', texts)).not.toContain('the secret');
    const sealed = (await redis.ask('HGET', texts, 'a')).split('\r\n')[1] ?? '';
    await redis.ask('HSET', texts, 'b', sealed);
    await expect(openProcess(given)).rejects.toMatchObject({ code: 'store_failed' });
  });

  it('do not open for a process with another key', async () => {
    const given = deployment();
    await (await (await openProcess(given)).own()).set('a', 'text');
    await expect(openProcess({ ...given, key: randomBytes(32) })).rejects.toMatchObject({ code: 'store_failed' });
  });

  it('stay as they were known where a new one does not open', async () => {
    const given = deployment();
    const [one, other] = [await openProcess(given), await openProcess(given)];
    const owned = await one.own();
    await owned.set('a', 'before');
    await other.texts.look();
    const foreign = await SharedTexts.open({ server: one.server, place: given.place, seal: new Seal(randomBytes(32), given.key) });
    await foreign.owned((await redis.ask('HGET', given.place.state, 'last')).split('\r\n')[1] ?? '', never).set('a', 'after');
    expect([(await other.texts.look()).changed, other.texts.peek('a')]).toEqual([[], 'before']);
  });

  it('are found again by a process that gets the key later, which is no owner before', async () => {
    const given = deployment();
    const [one, other] = [await openProcess(given), await openProcess(given)];
    const [old, next] = [given.key, randomBytes(32)];
    const owned = await one.own();
    await owned.apply(['a', 'b', 'c'].map((key) => ({ key, value: 'before' })));
    const seal = new Seal(old);
    const late = await SharedTexts.open({ server: other.server, place: given.place, seal });
    const renewed = await SharedTexts.open({ server: one.server, place: given.place, seal: new Seal(next, old) });
    const token = (await redis.ask('HGET', given.place.state, 'last')).split('\r\n')[1] ?? '';
    await renewed.owned(token, never).apply([
      { key: 'b', value: 'after' },
      { key: 'd', value: 'new' },
    ]);
    expect([(await late.look()).changed, late.peek('b')]).toEqual([[], 'before']);
    expect(() => {
      late.demandReadable();
    }).toThrow(/another key/u);
    await renewed.owned(token, never).set('c', 'after');
    await renewed.owned(token, never).delete('a');
    expect((await late.look()).changed).toEqual(['a']);

    // A look of before the key came, which its server has not answered yet.
    const looking = late.look();
    await flushMicrotasks();
    seal.renew(next);
    late.keysChanged();
    expect((await looking).changed).toEqual([]);
    expect((await late.look()).changed).toEqual(['b', 'd', 'c']);
    expect([late.peek('b'), late.peek('c'), late.peek('d'), await late.keys('')]).toEqual(['after', 'after', 'new', ['b', 'c', 'd']]);
    late.demandReadable();
    expect((await late.look()).changed).toEqual([]);
  });

  it('are sealed anew with the first key when they are rewritten', async () => {
    const given = deployment();
    const one = await openProcess(given);
    await (await one.own()).set('a', 'text');
    const next = randomBytes(32);
    const renewed = await SharedTexts.open({ server: one.server, place: given.place, seal: new Seal(next, given.key) });
    await renewed.owned((await redis.ask('HGET', given.place.state, 'last')).split('\r\n')[1] ?? '', never).rewrite();
    expect((await openProcess({ ...given, key: next })).texts.peek('a')).toBe('text');
  });

  it('are read in steps when there are many, and none is missed', async () => {
    const given = deployment();
    const one = await openProcess(given);
    const owned = await one.own();
    const all = Array.from({ length: 450 }, (_, index) => ({ key: `name-${String(index).padStart(3, '0')}`, value: String(index) }));
    await Promise.all(all.map(({ key, value }) => owned.set(key, value)));
    const other = await openProcess(given);
    expect(await other.texts.keys('name-')).toEqual(all.map(({ key }) => key));
  });

  it('that are gone are forgotten also by a process that looked away for longer than it is told of them', async () => {
    const given = deployment();
    const [one, other] = [await openProcess(given), await openProcess(given)];
    const owned = await one.own();
    const names = Array.from({ length: 2100 }, (_, index) => `name-${String(index)}`);
    const changeAll = async (value: string | undefined): Promise<void> => {
      for (let at = 0; at < names.length; at += 100) await owned.apply(names.slice(at, at + 100).map((key) => ({ key, value })));
    };
    await changeAll('text');
    await owned.set('stays', 'text');
    await other.texts.look();
    expect(await other.texts.keys('')).toHaveLength(2101);
    await changeAll(undefined);
    await other.texts.look();
    expect(await other.texts.keys('')).toEqual(['stays']);
    expect(Number((await redis.ask('ZCARD', given.place.changes)).slice(1))).toBe(2001);
  });
});

describe('a write', () => {
  it('L-10 of a deposed owner is refused by the server itself, and changes nothing anywhere', async () => {
    const given = deployment();
    const [old, next, other] = [await openProcess(given), await openProcess(given), await openProcess(given)];
    const refusals: string[] = [];
    const deposed = old.texts.owned((await owning(given.place, old.server)).token, ({ code }) => refusals.push(code));
    await deposed.set('a', 'old');
    // As its lease ends by itself: it has heard of nothing.
    await redis.ask('DEL', given.place.owner);
    const owned = await next.own();
    await owned.set('a', 'new');

    await expect(deposed.set('a', 'late')).rejects.toMatchObject({ code: 'store_failed' });
    await expect(deposed.delete('a')).rejects.toMatchObject({ code: 'store_failed' });
    expect(refusals).toEqual(['store_failed', 'store_failed']);
    await other.texts.look();
    expect([other.texts.peek('a'), old.texts.peek('a')]).toEqual(['new', 'old']);
    await old.texts.look();
    expect(old.texts.peek('a')).toBe('new');
  });

  it('of somebody who never owned the texts is refused', async () => {
    const one = await openProcess(deployment());
    await expect(one.texts.owned('', () => undefined).set('a', 'text')).rejects.toMatchObject({ code: 'store_failed' });
  });

  it('beyond the bounds of names and texts changes nothing', async () => {
    const owned = await (await openProcess(deployment())).own();
    const changes = [
      { key: 'a', value: 'text' },
      { key: 'x'.repeat(201), value: 'text' },
    ];
    await expect(owned.apply(changes)).rejects.toBeInstanceOf(RangeError);
    await expect(owned.set('a', 'x'.repeat(64 * 1024 + 1))).rejects.toBeInstanceOf(RangeError);
    expect(await owned.keys('')).toEqual([]);
  });

  it('that meets others goes out with them in one step, in their order', async () => {
    const given = deployment();
    const server = await processOn(redis);
    let steps = 0;
    const counted = { ...server, run: (...args: Parameters<SharedServer['run']>) => ((steps += 1), server.run(...args)) };
    const texts = await textsOf(given, counted);
    const owned = texts.owned((await owning(given.place, server)).token, never);
    steps = 0;
    await Promise.all(['1', '2', '3', '4', '5'].map((value) => owned.set('a', value)));
    expect([steps, await owned.get('a')]).toEqual([1, '5']);
    await (await openProcess(given)).texts.look();
    expect((await openProcess(given)).texts.peek('a')).toBe('5');
  });

  it('fails with store_failed while the server is away, and is not made here either', async () => {
    const own = await RedisServer.start();
    try {
      const given = deployment();
      const server = await processOn(own, 300);
      const texts = await textsOf(given, server);
      const owned = texts.owned((await owning(given.place, server)).token, never);
      await owned.set('a', 'text');
      own.hang();
      await expect(owned.set('a', 'another')).rejects.toMatchObject({ code: 'store_failed' });
      await expect(texts.look()).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(texts.peek('a')).toBe('text');
    } finally {
      own.resume();
      await own.stop();
    }
  });
});

it('L-15 a server that comes back empty makes nobody forget, and the next owner writes everything down again', async () => {
  const own = await RedisServer.start();
  try {
    const given = deployment();
    const [one, other] = [await openProcess(given, own), await openProcess(given, own)];
    const owned = await one.own();
    await owned.apply([
      { key: 'a', value: 'first' },
      { key: 'b', value: 'second' },
    ]);
    await other.texts.look();
    await own.kill();
    await own.again();

    await until('the server can be asked again', () =>
      other.texts.look().then(
        () => true,
        () => false,
      ),
    );
    expect([other.texts.hasLost, await other.texts.keys('')]).toEqual([true, ['a', 'b']]);
    await until('the other one, too', () =>
      one.texts.look().then(
        () => true,
        () => false,
      ),
    );
    await expect(owned.set('a', 'late')).rejects.toMatchObject({ code: 'store_failed' });

    const restored = await other.own();
    await restored.restore();
    await restored.set('b', 'newer');
    expect(other.texts.hasLost).toBe(false);
    await one.texts.look();
    expect([one.texts.hasLost, one.texts.peek('a'), one.texts.peek('b')]).toEqual([false, 'first', 'newer']);
    expect(await (await openProcess(given, own)).texts.keys('')).toEqual(['a', 'b']);
  } finally {
    await own.stop();
  }
});

it('L-15 while it is written down again, others go on believing what they knew', async () => {
  const own = await RedisServer.start();
  try {
    const given = deployment();
    const [one, other] = [await openProcess(given, own), await openProcess(given, own)];
    const names = Array.from({ length: 450 }, (_, index) => `name-${String(index)}`);
    const owned = await one.own();
    await Promise.all(names.map((name) => owned.set(name, 'text')));
    await other.texts.look();
    await own.kill();
    await own.again();
    await until('both can ask again', async () => {
      const looks = [one, other].map(({ texts }) =>
        texts.look().then(
          () => true,
          () => false,
        ),
      );
      return (await Promise.all(looks)).every((isGood) => isGood);
    });

    const seen: number[] = [];
    const look = async (): Promise<void> => {
      await other.texts.look();
      seen.push((await other.texts.keys('')).length);
    };
    expect([other.texts.hasLost, await own.ask('HLEN', given.place.texts)]).toEqual([true, ':0']);
    const restoring = (await one.own()).restore();
    for (let looks = 0; looks < 20; looks += 1) await look();
    await restoring;
    await look();
    expect(new Set(seen)).toEqual(new Set([450]));
    expect([other.texts.hasLost, one.texts.hasLost]).toEqual([false, false]);
  } finally {
    await own.stop();
  }
});
