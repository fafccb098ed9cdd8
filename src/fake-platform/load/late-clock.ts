// A clock that measures how late its timers fire. Every frame of every caller waits for one, so their lateness is that of the
// load: a load that cannot keep its own pace measures itself.
import { FRAME_MS } from '../../speech/audio-format.ts';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { Histogram } from './histogram.ts';

/** Most frames counted for one timer; a suspended machine must not count for hours. */
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
    // Timers know whole ms only: one that fired early would have to be set again.
    return this.#clock.after(Math.ceil(delayMs), () => {
      this.#record(this.#clock.monotonicMs() - dueMs);
      task();
    });
  }

  /** A late timer counts for every frame that was due meanwhile; each later frame is less late. */
  #record(lateMs: number): void {
    const lateness = this.#lateness;
    lateness.record(lateMs);
    const frames = Math.min(Math.floor(lateMs / FRAME_MS), MAX_FRAMES);
    for (let frame = 1; frame <= frames; frame += 1) lateness.record(lateMs - frame * FRAME_MS);
  }

  /** The lateness of the timers since the last report. */
  takeLateness(): Histogram {
    const taken = this.#lateness;
    this.#lateness = Histogram.coarse();
    return taken;
  }
}
