// A server of the shared secrets that comes back with less than it had, over a real one: nobody forgets what he knew, and whoever
// began in the meantime with less gives way to those who know more.
import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import type { SharedServer } from '../../../../src/store/redis/admin-place.ts';
import { takeOwnership } from '../../../../src/store/redis/owner-lease.ts';
import type { OwnedTexts } from '../../../../src/store/redis/owned-texts.ts';
import type { SharedTexts } from '../../../../src/store/redis/shared-texts.ts';
import { requireDebian } from '../../../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { owning, ownPlace, processOn, textsOf, type Deployment } from '../../../support/shared-admin.ts';
import { until } from '../../../support/until.ts';

requireDebian(REDIS_NEEDS);

interface Process {
  readonly server: SharedServer;
  readonly texts: SharedTexts;
  /** Becomes the owner, when nobody is, or somebody who knew less. */
  readonly own: () => Promise<OwnedTexts>;
}

/** A deployment with a server of its own, whose data are kept when that is asked for. */
async function open() {
  const redis = await RedisServer.start();
  onTestFinished(() => redis.stop());
  const given: Deployment = { place: ownPlace(), key: randomBytes(32) };
  const process = async (): Promise<Process> => {
    const server = await processOn(redis);
    const texts = await textsOf(given, server);
    const own = async (): Promise<OwnedTexts> => texts.owned((await owning(given.place, server, texts.claim)).token, () => undefined);
    return { server, texts, own };
  };
  /** It is killed and comes back with what was on its disk; all of these can ask it again. */
  const restart = async (...processes: readonly Process[]): Promise<void> => {
    await redis.kill();
    await redis.again();
    await until('it can be asked again', async () => {
      const asked = processes.map(({ server }) =>
        server.run({ source: 'return 1', sha1: '' }, [], []).then(
          () => true,
          () => false,
        ),
      );
      return (await Promise.all(asked)).every((isGood) => isGood);
    });
  };
  return { redis, place: given.place, process, restart };
}

const all = async (texts: SharedTexts): Promise<Readonly<Record<string, string | undefined>>> =>
  Object.fromEntries((await texts.keys('')).map((name) => [name, texts.peek(name)]));

it('L-10 L-15 what the owner writes into one that has lost something, all others know when that is over', async () => {
  const { redis, process, restart } = await open();
  const [one, other] = [await process(), await process()];
  const owned = await one.own();
  await owned.set('a', 'first');
  await redis.ask('SAVE');
  await owned.set('b', 'second');
  await other.texts.look();
  await restart(one, other);

  await owned.set('nonce', 'announced');
  expect((await other.texts.look()).changed).toEqual(['nonce']);
  expect(await all(other.texts)).toEqual({ a: 'first', b: 'second', nonce: 'announced' });
  expect(await all((await process()).texts)).toEqual(await all(other.texts));
  expect([one.texts.hasLost, other.texts.hasLost]).toEqual([false, false]);
});

it('L-15 a process that was started with an empty one makes nobody forget, and gives way to one that knows more', async () => {
  const { process, restart } = await open();
  const [one, other, third] = [await process(), await process(), await process()];
  const owned = await one.own();
  await owned.apply([
    { key: 'a', value: 'first' },
    { key: 'b', value: 'second' },
  ]);
  for (const { texts } of [other, third]) await texts.look();
  await restart(other, third);

  const newcomer = await process();
  const begun = await newcomer.own();
  await begun.apply([
    { key: 'b', value: 'newer' },
    { key: 'nonce', value: 'announced' },
  ]);
  // What it writes is known to all, also before anybody takes over.
  for (const { texts } of [other, third]) {
    await texts.look();
    expect([await all(texts), texts.hasLost]).toEqual([{ a: 'first', b: 'newer', nonce: 'announced' }, true]);
  }
  await begun.set('nonce', 'another');
  await other.texts.look();
  expect(other.texts.peek('nonce')).toBe('another');

  const restored = await other.own();
  await expect(begun.set('b', 'late')).rejects.toMatchObject({ code: 'store_failed' });
  await other.texts.look();
  await restored.restore();
  for (const { texts } of [other, third, newcomer, await process()]) {
    await texts.look();
    expect([await all(texts), texts.hasLost]).toEqual([{ a: 'first', b: 'newer', nonce: 'another' }, false]);
    // Once is enough: it knows all that anybody knows.
    expect(texts.claim.deposes).toBe('');
  }
});

it('L-15 a process that was started with an older copy makes nobody forget, and what it writes is seen', async () => {
  const { redis, place, process, restart } = await open();
  const [one, other] = [await process(), await process()];
  const owned = await one.own();
  await owned.apply([
    { key: 'a', value: 'first' },
    { key: 'b', value: 'first' },
  ]);
  // Its lease has ended in the copy.
  await redis.ask('DEL', place.owner);
  await redis.ask('SAVE');
  for (const value of ['second', 'third', 'fourth']) await owned.set('a', value);
  await owned.set('b', 'second');
  await owned.set('c', 'only here');
  await other.texts.look();
  await restart(one, other);

  const newcomer = await process();
  const begun = await newcomer.own();
  await begun.set('b', 'newer');
  await begun.set('nonce', 'announced');
  const known = { a: 'fourth', b: 'newer', c: 'only here', nonce: 'announced' };
  await other.texts.look();
  expect([await all(other.texts), other.texts.hasLost]).toEqual([known, true]);

  const restored = await other.own();
  await other.texts.look();
  await restored.restore();
  for (const { texts } of [newcomer, one, other]) {
    await texts.look();
    expect([await all(texts), texts.hasLost, texts.claim.deposes]).toEqual([known, false, '']);
  }
});

it('L-10 no claim deposes an owner that knew all there was, whatever it has written since', async () => {
  const { place, process } = await open();
  const [one, other] = [await process(), await process()];
  const owned = await one.own();
  for (const value of ['1', '2', '3']) {
    await owned.set('a', value);
    await other.texts.look();
    expect(other.texts.claim.deposes).toBe('');
    expect(await takeOwnership({ server: other.server, place }, other.texts.claim)).toMatchObject({ kind: 'held' });
  }
});
