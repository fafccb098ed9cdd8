// Waits count from the moment they should have begun: a server that stands still for two seconds is found in the figures,
// although no call could be answered meanwhile.
import { setMaxListeners } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { DEFAULT_LIMITS } from '../../../../src/fake-platform/caller/call-clock.ts';
import { arrivalsOf } from '../../../../src/fake-platform/load/arrivals.ts';
import type { CallFacts, WaitFact } from '../../../../src/fake-platform/load/call-facts.ts';
import { ConnectionPool } from '../../../../src/fake-platform/load/connection-pool.ts';
import { Histogram } from '../../../../src/fake-platform/load/histogram.ts';
import { Generator } from '../../../../src/fake-platform/load/generator.ts';
import { LateClock } from '../../../../src/fake-platform/load/late-clock.ts';
import { holdLoadCall } from '../../../../src/fake-platform/load/load-call.ts';
import { LoadBook } from '../../../../src/fake-platform/load/load-book.ts';
import { KnownSounds } from '../../../../src/fake-platform/load/prompt-watch.ts';
import { saturationOf, silenceOf, stallsOf } from '../../../../src/fake-platform/load/saturation.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { parseTarget } from '../../../../src/fake-platform/lines/target.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { startSmallServer, type SmallServer } from '../../../support/small-server.ts';

let server: SmallServer | undefined;
afterEach(() => {
  server?.process.kill('SIGKILL');
});

const LIMITS = { ...DEFAULT_LIMITS, callMs: 20_000 };
const PER_SECOND = 20;
const LENGTH_MS = 3000;
const STOP_AT_MS = 600;
const STOPPED_MS = 2000;

function facts(more: Partial<CallFacts> = {}): CallFacts {
  const sound = { compared: 0, wrong: 0, short: 0, unknown: 0 };
  const call = { scenario: 0, dueMs: 0, durationMs: 10, outcome: 'hung_up', replies: 1, isHeard: true } as const;
  return { ...call, gapsMs: [], failures: [], breaches: [], turnsRepeated: 0, turnsReopened: 0, turnsLost: 0, sound, ...more };
}

describe('an open model', () => {
  it('counts calls whose connections still close among those it holds, and begins no more than there is room for', async () => {
    const clock = new FakeClock();
    let closing = 2;
    const plan = { kind: 'fixed', phases: [{ durationMs: 1000, fromPerSecond: 4, toPerSecond: 4 }], seed: 1, weights: [1] } as const;
    const generator = new Generator({
      ...{ clock, zeroMs: clock.monotonicMs(), maxLive: 2, closing: () => closing, arrivals: arrivalsOf(plan) },
      hold: () => new Promise(() => undefined),
    });
    await clock.advanceAsync(500);
    const full = generator.take();
    expect([full.live, full.started]).toEqual([2, 0]);
    expect(full.missed).toBeGreaterThan(0);
    closing = 1;
    await clock.advanceAsync(500);
    expect(generator.take()).toMatchObject({ live: 2, started: 1 });
  });

  it('finds a server that stood still for two seconds', async () => {
    server = await startSmallServer();
    const { process: child } = server;
    const target = parseTarget(server.target);
    const pool = new ConnectionPool({ target, profile: loadProfile('fake'), clock: systemClock, connectLimitMs: 5000 }, 100);
    const zeroMs = systemClock.monotonicMs() + 200;
    const known = new KnownSounds();
    const { signal } = new AbortController();
    setMaxListeners(0, signal);
    const generator = new Generator({
      clock: systemClock,
      zeroMs,
      maxLive: 1000,
      arrivals: arrivalsOf({
        kind: 'fixed',
        phases: [{ durationMs: LENGTH_MS, fromPerSecond: PER_SECOND, toPerSecond: PER_SECOND }],
        seed: 1,
        weights: [1],
      }),
      hold: async (arrival, onWaited) => {
        const line = pool.line({
          conversationId: `c-${String(arrival.number)}`,
          organizationId: 'o',
          agentId: '',
          vendorConfig: '',
          allowPartial: false,
        });
        const scenario = { name: 'listen', organizationId: 'o', agentId: '', noInputMs: 0, repeatsLostTurns: false, limits: LIMITS };
        const held = await holdLoadCall({ arrival, scenario, line, clock: systemClock, zeroMs, known, signal, onWaited });
        line.close();
        return held;
      },
    });
    systemClock.after(200 + STOP_AT_MS, () => child.kill('SIGSTOP'));
    systemClock.after(200 + STOP_AT_MS + STOPPED_MS, () => child.kill('SIGCONT'));
    await generator.over;
    pool.close();

    const report = generator.take();
    const book = new LoadBook({ workers: 1, countedFromMs: 0, countedToMs: LENGTH_MS });
    const nothing = { loopDelayMaxMs: 0, residentBytes: 0, cpu: 0.1, timerLateness: report.startLateness.encoded };
    book.add(0, {
      kind: 'second',
      fromMs: 0,
      toMs: LENGTH_MS,
      ...report,
      ...nothing,
      startLateness: report.startLateness.encoded,
    });
    const { firstAudio, calls, sound, seconds } = book.account;
    expect(calls).toMatchObject({ finished: (PER_SECOND * LENGTH_MS) / 1000, failed: 0 });
    // Calls were due all the while, so the waits are spread evenly over the two seconds. One caller after the other would have
    // noticed one wait.
    expect(firstAudio.count).toBe(calls.finished);
    expect(firstAudio.max).toBeGreaterThan(STOPPED_MS - 150);
    const overOneSecond = report.waits.filter(({ waitedMs }) => waitedMs > STOPPED_MS / 2).length;
    expect(overOneSecond).toBeGreaterThanOrEqual(PER_SECOND - 4);
    expect(firstAudio.p50).toBeGreaterThan(200);
    // And they stand where callers began to wait, not where the answer came.
    expect(seconds[1]?.firstAudioMax).toBeGreaterThan(1000);
    expect(sound).toMatchObject({ wrong: 0, short: 0, compared: calls.finished - 1 });
  });

  it('lets calls arrive although none before is over, and counts those it had no room for', async () => {
    const clock = new FakeClock();
    const resolvers: ((held: CallFacts) => void)[] = [];
    const generator = new Generator({
      clock,
      zeroMs: 0,
      maxLive: 15,
      arrivals: arrivalsOf({ kind: 'fixed', phases: [{ durationMs: 2000, fromPerSecond: 10, toPerSecond: 10 }], seed: 1, weights: [1] }),
      hold: () => new Promise((resolve) => resolvers.push(resolve)),
    });
    clock.advance(1000);
    expect(generator.take()).toMatchObject({ live: 10, started: 10, missed: 0 });
    clock.advance(1000);
    expect(generator.take()).toMatchObject({ live: 15, started: 5, missed: 5 });
    for (const resolve of resolvers) resolve(facts());
    await generator.over;
    expect(generator.take()).toMatchObject({ live: 0, started: 0, calls: { length: 15 } });
    expect(clock.pendingTimers).toBe(0);
  });

  it('begins no further call once it is stopped', async () => {
    const clock = new FakeClock();
    const generator = new Generator({
      clock,
      zeroMs: 0,
      maxLive: 15,
      arrivals: arrivalsOf({ kind: 'fixed', phases: [{ durationMs: 2000, fromPerSecond: 10, toPerSecond: 10 }], seed: 1, weights: [1] }),
      hold: () => Promise.resolve(facts()),
    });
    clock.advance(500);
    generator.stop();
    await generator.over;
    expect(generator.take().started).toBe(5);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a load that breaks', () => {
  it('says so, and does not wait for ever for the call that could not be held', async () => {
    const clock = new FakeClock();
    let calls = 0;
    const generator = new Generator({
      clock,
      zeroMs: 0,
      maxLive: 15,
      arrivals: arrivalsOf({ kind: 'fixed', phases: [{ durationMs: 2000, fromPerSecond: 10, toPerSecond: 10 }], seed: 1, weights: [1] }),
      hold: () => {
        calls += 1;
        return calls === 3 ? Promise.reject(new TypeError('no such scenario')) : Promise.resolve(facts());
      },
    });
    const over = expect(generator.over).rejects.toThrow('no such scenario');
    await clock.advanceAsync(2000);
    await over;
    expect(calls).toBe(3);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a load that cannot keep its own pace', () => {
  it('counts a time in which it stood still by every frame that was due in it', () => {
    const clock = new FakeClock();
    let stallMs = 0;
    const late = slowedBy(clock, () => stallMs);
    let frames = 0;
    const tick = (): void => {
      frames += 1;
      stallMs = frames === 100 ? 400 : 0;
      if (frames < 200) late.after(20, tick);
    };
    late.after(20, tick);
    clock.advance(6000);
    const { count, p99, p50 } = late.takeLateness().percentiles;
    // One late timer of two hundred would not show; twenty frames of some two hundred do.
    expect(count).toBe(200 + 20);
    expect(p50).toBeLessThan(1);
    expect(p99).toBeGreaterThan(300);
  });

  it('is reported when it once stalled, and unknown when it reports nothing of the measured time', () => {
    const book = new LoadBook({ workers: 2, countedFromMs: 1000, countedToMs: 2000 });
    const nothing = Histogram.coarse().encoded;
    const second = {
      ...({ kind: 'second', live: 0, started: 0, missed: 0, waits: [], calls: [], residentBytes: 1 } as const),
      ...{ startLateness: nothing, timerLateness: nothing },
    };
    // One report of half the time before what counts, one of half the time after it.
    book.add(0, { ...second, waits: [], calls: [], fromMs: 500, toMs: 1500, cpu: 0.2, loopDelayMaxMs: 80 });
    book.add(0, { ...second, waits: [], calls: [], fromMs: 1500, toMs: 2500, cpu: 0.4, loopDelayMaxMs: 20 });
    book.add(1, { ...second, waits: [], calls: [], fromMs: 0, toMs: 1000, cpu: 0.99, loopDelayMaxMs: 500 });
    expect(book.workers[0]?.cpu).toBeCloseTo(0.3, 5);
    expect(saturationOf(book.workers)).toEqual([]);
    expect(stallsOf(book.workers)).toEqual([expect.stringContaining('worker 1 once stood still for 80 ms')]);
    expect(silenceOf(book.silentWorkers)).toEqual([expect.stringContaining('worker 2 reported nothing')]);
  });

  /** A machine whose timers fire so much too late. */
  function slowedBy(clock: FakeClock, byMs: () => number): LateClock {
    return new LateClock({
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      after: (ms, task) => clock.after(ms + byMs(), task),
    });
  }

  function workersOf(byMs: number, cpu: number, missed = 0): LoadBook {
    const clock = new FakeClock();
    const late = slowedBy(clock, () => byMs);
    const generator = new Generator({
      clock: late,
      zeroMs: 0,
      maxLive: 100,
      arrivals: arrivalsOf({ kind: 'fixed', phases: [{ durationMs: 2000, fromPerSecond: 5, toPerSecond: 5 }], seed: 1, weights: [1] }),
      hold: () => Promise.resolve(facts()),
    });
    clock.advance(3000);
    const { startLateness } = generator.take();
    const book = new LoadBook({ workers: 1, countedFromMs: 0, countedToMs: 2000 });
    const second = {
      kind: 'second',
      fromMs: 0,
      toMs: 2000,
      live: 0,
      started: 10,
      waits: [] as WaitFact[],
      calls: [] as CallFacts[],
    } as const;
    const own = { cpu, missed, loopDelayMaxMs: 0, residentBytes: 1 };
    book.add(0, {
      ...second,
      ...own,
      waits: [],
      calls: [],
      startLateness: startLateness.encoded,
      timerLateness: late.takeLateness().encoded,
    });
    return book;
  }

  it.each([
    ['in time', 1, 0.5, 0, []],
    ['less than a frame late', 18, 0.5, 0, []],
    ['late', 23, 0.5, 0, ['frames of worker 1 were late by', 'calls of worker 1 were late by']],
    ['too busy', 1, 0.9, 0, ['worker 1 used 90 % of a core']],
    ['too small', 1, 0.5, 3, ['worker 1 had no room for 3 calls']],
  ])('is known by its own clock: %s', (_, byMs, cpu, missed, expected) => {
    const reasons = saturationOf(workersOf(byMs, cpu, missed).workers);
    expect(reasons).toHaveLength(expected.length);
    for (const [index, reason] of expected.entries()) expect(reasons[index]).toContain(reason);
  });
});
