// Redis that comes back with less than it had: nobody forgets what he knew, and a leader that began in the meantime with less gives
// way to one that knows more.
import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import type { AdminStore } from '../../../../src/store/redis/admin-store.ts';
import { takeLease } from '../../../../src/store/redis/renewal-lease.ts';
import { SharedTexts, type LeaderTexts } from '../../../../src/store/redis/shared-texts.ts';
import { Seal } from '../../../../src/store/seal.ts';
import { requireDebian } from '../../../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { leaseOf, storeOn } from '../../../support/shared-admin.ts';
import { until } from '../../../support/until.ts';

requireDebian(REDIS_NEEDS);

interface Process {
  readonly store: AdminStore;
  readonly texts: SharedTexts;
  /** Leads, when nobody does, or somebody who knows less. */
  readonly lead: () => Promise<LeaderTexts>;
}

/** A deployment with a Redis server of its own, which writes to disk what the test decides. */
async function open() {
  const redis = await RedisServer.start();
  onTestFinished(() => redis.stop());
  const key = randomBytes(32);
  const process = async (): Promise<Process> => {
    const store = await storeOn(redis, 'lost');
    const texts = await SharedTexts.open(store, new Seal(key));
    const lead = async (): Promise<LeaderTexts> => texts.ledBy(await leaseOf(store, texts.deposes));
    return { store, texts, lead };
  };
  /** It is killed and comes back with what was on its disk; these processes notice. */
  const restart = async (...processes: readonly Process[]): Promise<void> => {
    await redis.kill();
    await redis.again();
    await until('it can be asked again', async () => {
      const asked = processes.map(({ store }) =>
        store.send(['HLEN', store.keys.texts]).then(
          () => true,
          () => false,
        ),
      );
      return (await Promise.all(asked)).every((isGood) => isGood);
    });
    for (const { texts } of processes) texts.readAll();
  };
  return { redis, process, restart };
}

const all = async (texts: SharedTexts): Promise<Readonly<Record<string, string | undefined>>> =>
  Object.fromEntries((await texts.keys('')).map((name) => [name, texts.peek(name)]));

it('L-15 one that comes back empty makes nobody forget, and the next leader writes everything down again', async () => {
  const { process, restart } = await open();
  const [one, other] = [await process(), await process()];
  const led = await one.lead();
  await led.set('a', 'first');
  await led.set('b', 'second');
  await led.set('c', 'third');
  await led.delete('c');
  await other.texts.poll();
  await restart(one, other);

  expect((await other.texts.poll()).changed).toEqual([]);
  expect(await all(other.texts)).toEqual({ a: 'first', b: 'second' });
  await expect(led.set('a', 'late')).rejects.toMatchObject({ code: 'store_failed' });
  const next = await other.lead();
  await next.restore();
  await next.set('b', 'newer');
  await one.texts.poll();
  const known = { a: 'first', b: 'newer' };
  for (const { texts } of [one, other, await process()]) expect(await all(texts)).toEqual(known);
});

it('L-15 one that is emptied without a restart is noticed with the next poll', async () => {
  const { redis, process } = await open();
  const one = await process();
  await (await one.lead()).set('a', 'first');
  await one.texts.poll();
  await redis.ask('FLUSHALL');
  await one.texts.poll();
  await (await one.lead()).restore();
  expect(await all((await process()).texts)).toEqual({ a: 'first' });
});

it('L-15 a process that was started with an empty one makes nobody forget, and gives way to one that knows more', async () => {
  const { process, restart } = await open();
  const [one, other, third] = [await process(), await process(), await process()];
  const led = await one.lead();
  await led.set('a', 'first');
  await led.set('b', 'second');
  for (const { texts } of [other, third]) await texts.poll();
  await restart(other, third);

  const newcomer = await process();
  const begun = await newcomer.lead();
  await begun.set('b', 'newer');
  await begun.set('nonce', 'announced');
  // What it writes is known to all, also before it gives way.
  for (const { texts } of [other, third]) {
    await texts.poll();
    expect([await all(texts), texts.deposes !== '']).toEqual([{ a: 'first', b: 'newer', nonce: 'announced' }, true]);
  }
  await begun.set('nonce', 'another');

  const restored = await other.lead();
  await expect(begun.set('b', 'late')).rejects.toMatchObject({ code: 'store_failed' });
  await other.texts.poll();
  await restored.restore();
  for (const { texts } of [other, third, newcomer, await process()]) {
    await texts.poll();
    expect([await all(texts), texts.deposes]).toEqual([{ a: 'first', b: 'newer', nonce: 'another' }, '']);
  }
});

it('L-15 a process that was started with an older copy makes nobody forget, and what it writes is seen', async () => {
  const { redis, process, restart } = await open();
  const [one, other] = [await process(), await process()];
  const led = await one.lead();
  await led.set('a', 'first');
  await led.set('b', 'first');
  // The copy has no lease.
  await redis.ask('RENAME', one.store.keys.lease, 'kept');
  await redis.ask('SAVE');
  await redis.ask('RENAME', 'kept', one.store.keys.lease);
  for (const value of ['second', 'third', 'fourth']) await led.set('a', value);
  await led.set('b', 'second');
  await other.texts.poll();
  await restart(one, other);

  const begun = await (await process()).lead();
  await begun.set('b', 'newer');
  await other.texts.poll();
  const known = { a: 'fourth', b: 'newer' };
  expect([await all(other.texts), other.texts.deposes !== '']).toEqual([known, true]);
  await (await other.lead()).restore();
  for (const { texts } of [one, other, await process()]) {
    await texts.poll();
    expect([await all(texts), texts.deposes]).toEqual([known, '']);
  }
});

it('L-10 nobody deposes a leader that knows all there was, whatever it has written since', async () => {
  const { process } = await open();
  const [one, other] = [await process(), await process()];
  const led = await one.lead();
  for (const value of ['1', '2', '3']) {
    await led.set('a', value);
    await other.texts.poll();
    expect(other.texts.deposes).toBe('');
    expect(await takeLease({ store: other.store }, other.texts.deposes)).toMatchObject({ kind: 'held' });
  }
});
