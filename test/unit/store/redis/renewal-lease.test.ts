// Who renews: over a real server what two processes agree on, and under a clock of the test when one of them gives up.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { GIVE_BACK, KEEP, TAKE } from '../../../../src/store/redis/admin-scripts.ts';
import { adminStore, type AdminStore } from '../../../../src/store/redis/admin-store.ts';
import { takeLease } from '../../../../src/store/redis/renewal-lease.ts';
import { requireDebian } from '../../../support/debian.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { leaseOf, storeOn } from '../../../support/shared-admin.ts';
import { until, within } from '../../../support/until.ts';

describe('over a real server', () => {
  const hasRedis = requireDebian(REDIS_NEEDS);
  let redis: RedisServer;
  beforeAll(async () => {
    if (hasRedis) redis = await RedisServer.start();
  });
  afterAll(async () => {
    if (hasRedis) await redis.stop();
  });

  it('L-10 one process has it, and the next one when it is given back', async () => {
    const one = await storeOn(redis);
    const other = await storeOn(redis, one.prefix);
    const first = await leaseOf(one);
    const second = await takeLease({ store: other });
    expect(second).toMatchObject({ kind: 'held' });
    expect(second.kind === 'held' ? second.freeInMs : 0).toBeGreaterThan(10_000);
    await first.giveBack();
    const next = await leaseOf(other);
    expect(next.token).not.toBe(first.token);
    await expect(next.confirm()).resolves.toBeUndefined();
  });

  it('is taken away from a leader that is named, and from no other one', async () => {
    const one = await storeOn(redis);
    const other = await storeOn(redis, one.prefix);
    const first = await leaseOf(one);
    const second = await leaseOf(other, first.token);
    expect(await takeLease({ store: one }, first.token)).toMatchObject({ kind: 'held' });
    await expect(first.confirm()).rejects.toMatchObject({ code: 'store_failed' });
    await expect(second.confirm()).resolves.toBeUndefined();
  });

  it('ends by itself when nobody keeps it, and the old leader learns that from the next question', async () => {
    const one = await storeOn(redis);
    const other = await storeOn(redis, one.prefix);
    // This process stands still: its clock does, and that of Redis does not.
    const taken = await takeLease({ store: one, leaseMs: 100, clock: new FakeClock() });
    const old = taken.kind === 'ours' ? taken.lease : undefined;
    await until('another one can take it', async () => {
      const next = await takeLease({ store: other });
      if (next.kind === 'ours') onTestFinished(() => next.lease.giveBack());
      return next.kind === 'ours';
    });
    await expect(old?.confirm()).rejects.toMatchObject({ code: 'store_failed' });
    expect(old?.isHeld).toBe(false);
    expect(await within('it is lost', old?.lost ?? Promise.resolve(undefined))).toMatchObject({ code: 'store_failed' });
    // Nothing of the new leader is given back by the old one.
    await old?.giveBack();
    expect(await takeLease({ store: one })).toMatchObject({ kind: 'held' });
  });
});

describe('under a clock of the test', () => {
  /** A server that answers as the test decides. */
  class Server implements AdminStore {
    readonly keys = adminStore({ send: () => Promise.resolve() }, 'p').keys;
    answer: 'yes' | 'no' | 'away' | 'silent' = 'yes';
    kept = 0;
    givenBack = 0;
    run(script: unknown): Promise<unknown> {
      if (script === TAKE) return Promise.resolve([1]);
      if (script === GIVE_BACK) this.givenBack += 1;
      if (script !== KEEP) return Promise.resolve(1);
      this.kept += 1;
      if (this.answer === 'silent') return new Promise(() => undefined);
      if (this.answer === 'away') return Promise.reject(new AppError('store_unavailable', 'away'));
      return Promise.resolve(this.answer === 'yes' ? 1 : 0);
    }
    send(): Promise<unknown> {
      return Promise.reject(new AppError('internal', 'scripts are all that is sent'));
    }
  }

  async function held() {
    const clock = new FakeClock();
    const server = new Server();
    const taken = await takeLease({ store: server, leaseMs: 15_000, clock });
    if (taken.kind !== 'ours') throw new Error('it was not taken');
    const { lease } = taken;
    const told: string[] = [];
    void lease.lost.then(({ code }) => told.push(code));
    onTestFinished(async () => {
      await lease.giveBack();
      expect(clock.pendingTimers).toBe(0);
    });
    return { clock, server, lease, told };
  }

  it('is kept three times in its time, for ever', async () => {
    const { clock, server, lease, told } = await held();
    await clock.advanceAsync(600_000);
    expect([server.kept, lease.isHeld, told]).toEqual([120, true, []]);
  });

  it.each(['away', 'silent'] as const)('is over before another process can have it when the server is %s', async (answer) => {
    const { clock, server, lease, told } = await held();
    server.answer = answer;
    await clock.advanceAsync(14_000);
    expect([lease.isHeld, told]).toEqual([true, []]);
    await clock.advanceAsync(500);
    expect([lease.isHeld, told]).toEqual([false, ['store_failed']]);
  });

  it('survives a server that was away for a moment', async () => {
    const { clock, server, lease, told } = await held();
    server.answer = 'away';
    await clock.advanceAsync(9000);
    server.answer = 'yes';
    await clock.advanceAsync(60_000);
    expect([lease.isHeld, told]).toEqual([true, []]);
  });

  it('is over at once when the server says that another process has it', async () => {
    const { clock, server, lease, told } = await held();
    server.answer = 'no';
    await clock.advanceAsync(5000);
    expect([lease.isHeld, told]).toEqual([false, ['store_failed']]);
  });

  it('is over for a process that stood still for longer than it lasts, before it does anything', async () => {
    const { clock, server, lease, told } = await held();
    const before = server.kept;
    // The clock has gone on, and no timer has had its turn.
    const stoodStill = stillFor(clock, 20_000);
    await expect(lease.confirm()).rejects.toMatchObject({ code: 'store_failed' });
    stoodStill();
    await flushMicrotasks();
    expect([server.kept, told]).toEqual([before, ['store_failed']]);
  });

  it('cannot be confirmed while the server does not say so, and is not lost by that', async () => {
    const { server, lease } = await held();
    server.answer = 'away';
    await expect(lease.confirm()).rejects.toMatchObject({ code: 'store_failed' });
    server.answer = 'yes';
    await expect(lease.confirm()).resolves.toBeUndefined();
  });

  it('asks nothing of the server any more when it was lost, and gives nothing back', async () => {
    const { clock, server, lease } = await held();
    lease.lose();
    await lease.giveBack();
    await clock.advanceAsync(60_000);
    expect([server.kept, server.givenBack]).toEqual([0, 0]);
  });
});

/** Lets the clock say another time without a timer that fires. @returns what ends it. */
function stillFor(clock: FakeClock, ms: number): () => void {
  const before = clock.monotonicMs.bind(clock);
  clock.monotonicMs = () => before() + ms;
  return () => {
    clock.monotonicMs = before;
  };
}
