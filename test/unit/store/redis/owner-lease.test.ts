// Who renews: over a real server what two processes agree on, and under a clock of the test when one of them gives up.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { adminPlace, NEWS, type SharedServer } from '../../../../src/store/redis/admin-place.ts';
import { GIVE_BACK, KEEP, TAKE } from '../../../../src/store/redis/admin-scripts.ts';
import { takeOwnership } from '../../../../src/store/redis/owner-lease.ts';
import { requireDebian } from '../../../support/debian.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { owning, ownPlace, processOn } from '../../../support/shared-admin.ts';
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

  it('one process has it, and every next owner another token', async () => {
    const place = ownPlace();
    const [one, other] = [await processOn(redis), await processOn(redis)];
    const first = await owning(place, one);
    const second = await takeOwnership({ server: other, place });
    expect(second).toMatchObject({ kind: 'held' });
    expect(second.kind === 'held' ? second.freeInMs : 0).toBeGreaterThan(10_000);
    await first.giveBack();
    const next = await owning(place, other);
    expect(Number.parseInt(next.token, 10)).toBe(Number.parseInt(first.token, 10) + 1);
    await expect(next.confirm()).resolves.toBeUndefined();
  });

  it('given back it is free at once, and the others are told', async () => {
    const place = ownPlace();
    const [one, other] = [await processOn(redis), await processOn(redis)];
    const heard: string[] = [];
    onTestFinished(other.listen(place.news, (news) => heard.push(news)));
    await until('the other process listens', async () => (await redis.ask('PUBLISH', place.news, 'hello')) === ':1');
    await (await owning(place, one)).giveBack();
    await until('it is told', () => heard.includes(NEWS.free));
    await owning(place, other);
  });

  it('ends by itself when nobody prolongs it, and the old owner learns that from the next question', async () => {
    const place = ownPlace();
    const [one, other] = [await processOn(redis), await processOn(redis)];
    // This process stands still: its clock does, and the server's does not.
    const taken = await takeOwnership({ server: one, place, leaseMs: 100, clock: new FakeClock() });
    const old = taken.kind === 'ours' ? taken.lease : undefined;
    await until('another one can take it', async () => {
      const next = await takeOwnership({ server: other, place });
      if (next.kind === 'ours') onTestFinished(() => next.lease.giveBack());
      return next.kind === 'ours';
    });
    await expect(old?.confirm()).rejects.toMatchObject({ code: 'store_failed' });
    expect(old?.isHeld).toBe(false);
    expect(await within('it is told', old?.lost ?? Promise.resolve(undefined))).toMatchObject({ code: 'store_failed' });
    // Nothing of the new owner is given back by the old one.
    await old?.giveBack();
    expect(await takeOwnership({ server: one, place })).toMatchObject({ kind: 'held' });
  });
});

describe('under a clock of the test', () => {
  /** A server that answers as it is told. */
  class Server implements SharedServer {
    answer: 'yes' | 'no' | 'away' | 'silent' = 'yes';
    kept = 0;
    givenBack = 0;
    run(script: unknown): Promise<unknown> {
      if (script === TAKE) return Promise.resolve([1, '1/a']);
      if (script === GIVE_BACK) this.givenBack += 1;
      if (script !== KEEP) return Promise.resolve(1);
      this.kept += 1;
      if (this.answer === 'silent') return new Promise(() => undefined);
      if (this.answer === 'away') return Promise.reject(new AppError('store_unavailable', 'away'));
      return Promise.resolve(this.answer === 'yes' ? 1 : 0);
    }
    listen(): () => void {
      return () => undefined;
    }
  }

  async function held() {
    const clock = new FakeClock();
    const server = new Server();
    const taken = await takeOwnership({ server, place: adminPlace('p'), leaseMs: 15_000, clock });
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

  it('is prolonged three times in its time, for ever', async () => {
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
