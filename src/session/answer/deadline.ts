// A deadline that counts only the time it is meant for: it stands still while somebody else is waited for.
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Runs `onExpired` once after `limitMs` of counted time. Whoever made it calls `cancel`. */
export class Deadline {
  readonly #clock: Clock;
  readonly #onExpired: () => void;
  #leftMs: number;
  #runningSinceMs = 0;
  #cancelTimer: CancelTimer | undefined;
  #isCancelled = false;

  constructor(clock: Clock, limitMs: number, onExpired: () => void) {
    this.#clock = clock;
    this.#onExpired = onExpired;
    this.#leftMs = limitMs;
    this.resume();
  }

  /** Stops counting. */
  pause(): void {
    if (this.#cancelTimer === undefined) return;
    this.#leftMs -= this.#clock.monotonicMs() - this.#runningSinceMs;
    this.#stop();
  }

  /** Counts again, unless it was cancelled. */
  resume(): void {
    if (this.#isCancelled || this.#cancelTimer !== undefined) return;
    this.#runningSinceMs = this.#clock.monotonicMs();
    this.#cancelTimer = this.#clock.after(this.#leftMs, this.#onExpired);
  }

  /** Stops for good; harmless after it has expired. */
  cancel(): void {
    this.#isCancelled = true;
    this.#stop();
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
