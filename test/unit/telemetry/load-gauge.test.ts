import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { LoadGauge, type DelayHistogram } from '../../../src/telemetry/load-gauge.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MEMORY = { rssBytes: 5, heapPercent: 1 };

/** A histogram whose next windows hold these delays, ms on top of the sampling time. */
function windows(...delaysMs: readonly number[]): DelayHistogram {
  const left = [...delaysMs];
  return {
    count: 50,
    percentile: (of) => (of === 99 ? (20 + (left[0] ?? 0)) * 1e6 : NaN),
    reset: () => void left.shift(),
  };
}

describe('LoadGauge', () => {
  it('takes a delay for real that lasts for two windows, and forgets it with the first calm one', () => {
    const clock = new FakeClock();
    const gauge = new LoadGauge({ clock, histogram: windows(300, 0, 300, 200, 250, 10), memory: () => MEMORY });
    const seen = Array.from({ length: 6 }, () => {
      clock.advance(1000);
      return gauge.reading().loopDelayMs;
    });
    expect(seen).toEqual([0, 0, 0, 200, 200, 10]);
    gauge.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps the last reading of the memory when the next one fails, as it does without file descriptors', () => {
    const clock = new FakeClock();
    let isBroken = false;
    const memory = (): typeof MEMORY => {
      if (isBroken) throw new Error('EMFILE');
      return MEMORY;
    };
    const gauge = new LoadGauge({ clock, histogram: windows(), memory });
    expect(gauge.reading()).toMatchObject(MEMORY);
    isBroken = true;
    clock.advance(1000);
    expect(gauge.reading()).toMatchObject(MEMORY);
    gauge.close();
  });

  it('reads an empty window as no delay, and a sample that came early as none', () => {
    const clock = new FakeClock();
    const gauge = new LoadGauge({ clock, histogram: { count: 0, percentile: () => NaN, reset: () => undefined }, memory: () => MEMORY });
    clock.advance(3000);
    expect(gauge.reading()).toEqual({ loopDelayMs: 0, ...MEMORY });
    gauge.close();
    const early = new LoadGauge({ clock, histogram: windows(-3, -3), memory: () => MEMORY });
    clock.advance(2000);
    expect(early.reading().loopDelayMs).toBe(0);
    early.close();
  });

  it('reads the memory once in a window, and only when somebody asks', () => {
    const clock = new FakeClock();
    let reads = 0;
    const memory = (): typeof MEMORY => {
      reads += 1;
      return MEMORY;
    };
    const gauge = new LoadGauge({ clock, histogram: windows(), memory });
    clock.advance(60_000);
    expect(reads).toBe(0);
    for (let asked = 0; asked < 3; asked += 1) gauge.reading();
    expect(reads).toBe(1);
    clock.advance(1000);
    gauge.reading();
    expect(reads).toBe(2);
    gauge.close();
  });

  it('measures the memory of this process, from the first moment on', () => {
    const clock = new FakeClock();
    const gauge = new LoadGauge({ clock });
    const { rssBytes, heapPercent } = gauge.reading();
    expect(rssBytes).toBeGreaterThan(10_000_000);
    expect(heapPercent).toBeGreaterThan(0);
    expect(heapPercent).toBeLessThan(100);
    gauge.close();
  });

  it('notices that this process was really blocked', async () => {
    const clock = new FakeClock();
    const gauge = new LoadGauge({ clock });
    for (let window = 0; window < 2; window += 1) {
      // The sampler needs a turn of the loop before and after, which a timer behind the block gives it.
      for (let block = 0; block < 2; block += 1) {
        const untilMs = systemClock.monotonicMs() + 120;
        while (systemClock.monotonicMs() < untilMs);
        await new Promise<void>((resolve) => {
          systemClock.after(30, resolve);
        });
      }
      clock.advance(1000);
    }
    expect(gauge.reading().loopDelayMs).toBeGreaterThan(60);
    gauge.close();
  });
});
