// The time axis of one call: ms since it began, with timers. Every event of the call has its time on this axis.
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Time since a call began. */
export class CallClock {
  readonly #clock: Clock;
  readonly #zeroMs: number;

  /** The call begins now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#zeroMs = clock.monotonicMs();
  }

  /** ms since the call began. */
  nowMs(): number {
    return this.#clock.monotonicMs() - this.#zeroMs;
  }

  /** Runs `task` once after `delayMs`. */
  after(delayMs: number, task: () => void): CancelTimer {
    return this.#clock.after(Math.max(0, delayMs), task);
  }
}
