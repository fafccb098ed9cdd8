// The time limit of a bot for one question. It is also limited over consecutive questions without an answer, and counts
// only what its caller waits in silence.
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Limit over consecutive questions without an answer, in turn deadlines. */
const WHOLE_DEADLINES = 1.5;
/** Least time of a question, ms. */
const LEAST_MS = 1000;

/**
 * The time limit of a question, ms. A caller who acts again cancels a question and asks another; without a limit over
 * all of them, a hanging bot would leave an active caller in silence for ever.
 *
 * @param waitedMs - the caller's wait so far, for this answer and earlier ones that never came.
 * @param deadlineMs - of one turn.
 */
export function answerLimitMs(waitedMs: number, deadlineMs: number): number {
  return Math.min(deadlineMs, Math.max(deadlineMs * WHOLE_DEADLINES - waitedMs, LEAST_MS));
}

/** Calls `onExpired` once after `limitMs` of counted time. The creator calls `cancel`. */
export class Deadline {
  readonly #clock: Clock;
  onExpired: () => void = () => undefined;
  readonly #limitMs: number;
  #leftMs: number;
  #runningSinceMs = 0;
  #cancelTimer: CancelTimer | undefined;
  #isCancelled = false;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#leftMs = limitMs;
    this.resume();
  }

  /** Stops counting. */
  pause(): void {
    if (this.#cancelTimer === undefined) return;
    this.#leftMs -= this.#clock.monotonicMs() - this.#runningSinceMs;
    this.#stop();
  }

  /**
   * Counts again, unless cancelled.
   *
   * @param soundingMs - length of the audio that the caller hears from now on, ms; after it, the full time is available again.
   */
  resume(soundingMs = 0): void {
    if (this.#isCancelled || this.#cancelTimer !== undefined) return;
    if (soundingMs > 0) this.#leftMs = this.#limitMs + soundingMs;
    this.#runningSinceMs = this.#clock.monotonicMs();
    this.#cancelTimer = this.#clock.after(this.#leftMs, () => {
      this.onExpired();
    });
  }

  /** What was playing is cut off: the caller waits in silence from now on. */
  cutOff(): void {
    if (this.#cancelTimer === undefined) return;
    this.pause();
    this.#leftMs = Math.min(this.#leftMs, this.#limitMs);
    this.resume();
  }

  /** Stops for good; allowed after expiry. */
  cancel(): void {
    this.#isCancelled = true;
    this.#stop();
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
