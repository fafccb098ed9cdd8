// Who renews among several servers, with a store that a test plays and under its clock.
import { expect, it, onTestFinished } from 'vitest';
import { RenewalOwnership, type Reign } from '../../../src/app/renewal-ownership.ts';
import { AppError } from '../../../src/base/errors.ts';
import { adminPlace, type SharedServer } from '../../../src/store/redis/admin-place.ts';
import { GIVE_BACK, KEEP, TAKE } from '../../../src/store/redis/admin-scripts.ts';
import { takeOwnership } from '../../../src/store/redis/owner-lease.ts';
import { keptLog } from '../../support/admin-server.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';

/** The store: who has the lease, and whether it can be reached. */
class Store implements SharedServer {
  holder: string | undefined;
  /** Of a holder that is not among the servers of the test, ms. */
  freeInMs = 0;
  isAway = false;
  /** Every server is told of it, also the one that gives the lease back. */
  onFree: () => void = () => undefined;
  #fence = 0;
  run(script: unknown, _keys: readonly string[], [token = '']: readonly string[]): Promise<unknown> {
    if (this.isAway) return Promise.reject(new AppError('store_unavailable', 'away'));
    if (script === TAKE) {
      if (this.holder !== undefined) return Promise.resolve([0, this.freeInMs]);
      this.#fence += 1;
      this.holder = `${String(this.#fence)}/${token}`;
      return Promise.resolve([1, this.holder]);
    }
    const isTheirs = this.holder === token;
    if (script === GIVE_BACK && isTheirs) {
      this.holder = undefined;
      queueMicrotask(this.onFree);
    }
    return Promise.resolve(script === KEEP || script === GIVE_BACK ? Number(isTheirs) : 0);
  }
  listen(): () => void {
    return () => undefined;
  }
}

function open(clock = new FakeClock(), store = new Store()) {
  const { log, lines } = keptLog();
  const told: string[] = [];
  let failure: Error | undefined;
  let holding: Promise<void> = Promise.resolve();
  const ownership = new RenewalOwnership({
    ...{ retryMs: 5000, clock, log },
    take: () => takeOwnership({ server: store, place: adminPlace('p'), leaseMs: 15_000, clock }),
    reign: (_, isFirst): Reign => ({
      begin: () => {
        told.push(isFirst ? 'first' : 'begin');
        return failure === undefined ? Promise.resolve() : Promise.reject(failure);
      },
      end: async (why) => {
        told.push(why === undefined ? 'end' : `end: ${why.code}`);
        await holding;
        told.push('ended');
      },
    }),
  });
  onTestFinished(async () => {
    store.isAway = false;
    await ownership.stop();
    expect(clock.pendingTimers).toBe(0);
  });
  return {
    ...{ clock, store, lines, told, ownership },
    fail: (error?: Error) => (failure = error),
    hold: (until: Promise<void>): void => {
      holding = until;
    },
  };
}

it('the first server renews when it has started, and goes on', async () => {
  const { ownership, told, clock, store } = open();
  await ownership.start();
  await clock.advanceAsync(600_000);
  expect([told, store.holder?.startsWith('1/')]).toEqual([['first'], true]);
});

it('another one does not, and takes over at the very end of a lease that nobody prolongs', async () => {
  const { ownership, told, clock, store } = open();
  store.holder = 'of a server that died';
  store.freeInMs = 2000;
  await ownership.start();
  expect(told).toEqual([]);
  await clock.advanceAsync(1900);
  store.holder = undefined;
  await clock.advanceAsync(120);
  expect(told).toEqual(['begin']);
});

it('it takes over at once when it is told that the other one has stopped', async () => {
  const { ownership, told, clock, store } = open();
  store.holder = 'of another server';
  store.freeInMs = 15_000;
  await ownership.start();
  await clock.advanceAsync(10);
  store.holder = undefined;
  ownership.hurry();
  await flushMicrotasks();
  expect(told).toEqual(['begin']);
});

it('a server that stops hands over when everything it did is over, and tries no more', async () => {
  const { ownership, told, clock, store, hold } = open();
  await ownership.start();
  let release: () => void = () => undefined;
  hold(new Promise((resolve) => (release = resolve)));
  const stopped = ownership.stop();
  await flushMicrotasks();
  expect([told, store.holder]).toEqual([['first', 'end'], expect.stringMatching(/^1\//u)]);
  release();
  await stopped;
  expect([told, store.holder]).toEqual([['first', 'end', 'ended'], undefined]);
  await clock.advanceAsync(60_000);
  expect(store.holder).toBeUndefined();
});

it('a server that cannot reach the store ends before another one can begin, and begins anew when nobody else has', async () => {
  const { ownership, told, clock, store } = open();
  await ownership.start();
  store.isAway = true;
  await clock.advanceAsync(15_000);
  expect(told).toEqual(['first', 'end: store_failed', 'ended']);
  await clock.advanceAsync(60_000);
  store.isAway = false;
  store.holder = undefined;
  await clock.advanceAsync(5000);
  expect(told.slice(3)).toEqual(['begin']);
});

it('does not begin anew before the end of what it did has come', async () => {
  const { ownership, told, clock, store, hold } = open();
  await ownership.start();
  let release: () => void = () => undefined;
  hold(new Promise((resolve) => (release = resolve)));
  store.holder = 'of another server';
  await clock.advanceAsync(5000);
  store.holder = undefined;
  await clock.advanceAsync(60_000);
  expect(told).toEqual(['first', 'end: store_failed']);
  release();
  await flushMicrotasks();
  await clock.advanceAsync(5000);
  expect(told).toEqual(['first', 'end: store_failed', 'ended', 'begin']);
});

it('a start that fails gives the lease back and says why; one that fails later is tried again', async () => {
  const first = open();
  first.fail(new AppError('login_needed', 'log in'));
  await expect(first.ownership.start()).rejects.toMatchObject({ code: 'login_needed' });
  expect([first.told, first.store.holder]).toEqual([['first', 'end', 'ended'], undefined]);

  const { ownership, told, clock, store, fail, lines } = open();
  store.holder = 'of another server';
  store.freeInMs = 15_000;
  await ownership.start();
  store.holder = undefined;
  fail(new AppError('store_failed', 'no'));
  await clock.advanceAsync(5100);
  expect([told, store.holder]).toEqual([['begin', 'end', 'ended'], undefined]);
  expect(lines.join('\n')).toContain('store_failed');
  fail();
  await clock.advanceAsync(5100);
  expect(told.slice(3)).toEqual(['begin']);
});

it('a server that cannot begin is not told to try again by what it gives back itself', async () => {
  const { ownership, told, clock, store, fail } = open();
  store.holder = 'of another server';
  store.freeInMs = 15_000;
  store.onFree = () => {
    ownership.hurry();
  };
  await ownership.start();
  store.holder = undefined;
  fail(new AppError('store_failed', 'no'));
  await clock.advanceAsync(5100);
  expect(told).toEqual(['begin', 'end', 'ended']);
  await clock.advanceAsync(4800);
  expect(told).toHaveLength(3);
  await clock.advanceAsync(300);
  expect(told).toHaveLength(6);
});
