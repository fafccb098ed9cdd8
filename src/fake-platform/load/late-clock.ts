// A clock that knows how late its timers fire. Every frame of every caller waits for one, so their lateness is that of the
// load: a load that cannot keep its own pace measures itself.
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { Histogram } from './histogram.ts';

/** Wraps another clock. */
export class LateClock implements Clock {
  readonly #clock: Clock;
  #lateness = Histogram.coarse();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, task: () => void): CancelTimer {
    const dueMs = this.#clock.monotonicMs() + delayMs;
    // Timers know whole ms only: one that fired early would have to be armed again.
    return this.#clock.after(Math.ceil(delayMs), () => {
      this.#lateness.record(this.#clock.monotonicMs() - dueMs);
      task();
    });
  }

  /** The lateness of the timers since it was last taken. */
  takeLateness(): Histogram {
    const taken = this.#lateness;
    this.#lateness = Histogram.coarse();
    return taken;
  }
}
