// A clock that measures how late its timers fire. Every frame of every caller waits for a timer, so this is how late the load is. A load
// that cannot keep its own pace measures itself and not the server.
import { FRAME_MS } from '../../speech/audio-format.ts';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { Histogram } from './histogram.ts';

/** Most frames that are counted for one timer: a suspended machine must not cause hours of counting. */
const MAX_FRAMES = 500;

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
    // Timers know whole ms only, and one that fires early would have to be set again.
    return this.#clock.after(Math.ceil(delayMs), () => {
      this.#record(this.#clock.monotonicMs() - dueMs);
      task();
    });
  }

  /** Records the timer, and every frame that became due while it was late: each of them one frame length less late. */
  #record(lateMs: number): void {
    const lateness = this.#lateness;
    lateness.record(lateMs);
    const frames = Math.min(Math.floor(lateMs / FRAME_MS), MAX_FRAMES);
    for (let frame = 1; frame <= frames; frame += 1) lateness.record(lateMs - frame * FRAME_MS);
  }

  /** The lateness of the timers since the last call. */
  takeLateness(): Histogram {
    const taken = this.#lateness;
    this.#lateness = Histogram.coarse();
    return taken;
  }
}
