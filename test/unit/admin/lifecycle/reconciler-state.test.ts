import { afterEach, describe, expect, it } from 'vitest';
import { RestError } from '../../../../src/admin/rest/rest-error.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { RequestFailure } from '../../../../src/base/http-exchange.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { HOUR, MINUTE, World } from './reconciler-world.ts';

const worlds: World[] = [];
function newWorld(): World {
  const world = new World();
  worlds.push(world);
  return world;
}

afterEach(async () => {
  for (const world of worlds.splice(0)) {
    await Promise.all(world.started.map((reconciler) => reconciler.stop()));
    expect(world.clock.pendingTimers).toBe(0);
  }
});

/** What the platform says to somebody who asks too often. */
const busy = (retryAfterMs: number): RestError => {
  const failure = new RequestFailure('rate_limited', 'answered 429', { status: 429, retryAfterMs });
  return new RestError('platform_unavailable', 'GET /things', failure, { message: undefined, trackingId: undefined }, false);
};

describe('after a failure with Retry-After', () => {
  it.each([
    ['R-11 the platform is left alone for so long', 10 * MINUTE, 10],
    ['for an hour at most', 20 * HOUR, 60],
    ['for the pause of a retry at least', 1000, 1],
  ])('%s', async (_, retryAfterMs, minutes) => {
    const world = newWorld();
    await (await world.reconciler()).start();
    let asked = 0;
    world.api.get = () => Promise.reject(busy(++asked === 1 ? retryAfterMs : 1));
    await world.pass(15 * MINUTE);
    expect(asked).toBe(1);
    await world.pass((minutes - 1) * MINUTE + 59_000, 1000);
    expect(asked).toBe(1);
    await world.pass(1000);
    expect(asked).toBe(2);
  });

  it('but some tries are left before the token ends', async () => {
    const world = newWorld();
    const reconciler = await world.reconciler();
    await reconciler.start();
    let asked = 0;
    world.api.get = () => Promise.reject(busy(++asked * HOUR));
    await world.pass(24 * HOUR);
    const before = asked;
    expect(reconciler.state.isServed).toBe(false);
    // About once an hour until the last five minutes, in which it is asked once in each.
    expect(before).toBeGreaterThanOrEqual(24 + 4);
    expect(before).toBeLessThanOrEqual(24 + 7);
  });
});

describe('after a failure that only people mend', () => {
  it('the platform is asked as seldom as when all is well, and as often as ever before the token ends', async () => {
    const world = newWorld();
    const reconciler = await world.reconciler();
    await reconciler.start();
    let asked = 0;
    world.api.get = () => {
      asked += 1;
      return Promise.reject(new AppError('login_needed', 'log in'));
    };
    await world.pass(10 * HOUR, 5 * MINUTE);
    expect(asked).toBeGreaterThanOrEqual(38);
    expect(asked).toBeLessThanOrEqual(40);
    await world.pass(13.9 * HOUR, 5 * MINUTE);
    const before = asked;
    await world.pass(6 * MINUTE);
    expect(asked).toBeGreaterThanOrEqual(before + 4);
  });
});

describe('the state of a data source', () => {
  it('says what the last step failed with until another one is over, and since when none went well', async () => {
    const world = newWorld();
    const reconciler = await world.reconciler();
    await reconciler.start();
    const wellAtMs = world.clock.nowMs();
    world.api.isDown = true;
    await world.pass(20 * MINUTE);
    expect(reconciler.state).toMatchObject({ error: { code: 'platform_unavailable' }, wellAtMs });
    world.api.isDown = false;
    const get = world.api.get.bind(world.api);
    let answer: () => void = () => undefined;
    world.api.get = async (id) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return get(id);
    };
    const asked = world.api.count('get');
    await world.pass(3 * MINUTE);
    // The platform is asked, and has not answered: nothing is better yet.
    expect([reconciler.state.error?.code, reconciler.state.wellAtMs, world.api.count('get')]).toEqual([
      'platform_unavailable',
      wellAtMs,
      asked,
    ]);
    answer();
    await flushMicrotasks();
    expect(reconciler.state).toMatchObject({ error: undefined, wellAtMs: world.clock.nowMs() });
    expect(world.told.filter(({ transition }) => transition !== 'failed').every(({ error }) => error === undefined)).toBe(true);
  });
});

describe('while the store cannot be written', () => {
  it('L-09 no nonce goes out that a restart would not know, until little of the lead time is left', async () => {
    const world = newWorld();
    const reconciler = await world.reconciler();
    await reconciler.start();
    const { nonce } = world.record;
    const set = world.store.set.bind(world.store);
    world.store.set = () => Promise.reject(new AppError('store_failed', 'the disk is full'));
    await world.pass(23 * HOUR + 29 * MINUTE, 15 * MINUTE);
    expect([world.record.nonce, reconciler.state.error?.code]).toEqual([nonce, 'store_failed']);
    await world.pass(4 * MINUTE);
    expect(world.record.nonce).not.toBe(nonce);
    expect([world.lets(world.record.nonce), reconciler.state.error]).toEqual([true, undefined]);
    // It is in the store with the first look after the store has recovered.
    world.store.set = set;
    await world.pass(15 * MINUTE);
    expect(world.texts.get('nonces')).toContain(world.record.nonce);
  });
});
