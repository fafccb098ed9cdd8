// The time limit of a bot for one question. Consecutive questions without an answer share a limit, too. Only time in which
// the caller waits in silence counts.
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Limit for consecutive questions without an answer together, as a multiple of the turn deadline. */
const WHOLE_DEADLINES = 1.5;
/** Least time for a question, ms. */
const LEAST_MS = 1000;

/**
 * The time limit of a question, ms. A caller who speaks again cancels a question and causes another one; without a limit for
 * all of them together, a hanging bot would leave an active caller in silence for ever.
 *
 * @param waitedMs - how long the caller has waited so far, for this answer and for earlier ones that never came.
 * @param deadlineMs - time limit of one turn, ms.
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
   * Continues to count, unless cancelled.
   *
   * @param soundingMs - audio that the caller hears from now on, ms; counting starts after it, with the full time.
   */
  resume(soundingMs = 0): void {
    if (this.#isCancelled || this.#cancelTimer !== undefined) return;
    if (soundingMs > 0) this.#leftMs = this.#limitMs + soundingMs;
    this.#runningSinceMs = this.#clock.monotonicMs();
    this.#cancelTimer = this.#clock.after(this.#leftMs, () => {
      this.onExpired();
    });
  }

  /** The audio that was playing is cut: from now on the caller waits in silence. */
  cutOff(): void {
    if (this.#cancelTimer === undefined) return;
    this.pause();
    this.#leftMs = Math.min(this.#leftMs, this.#limitMs);
    this.resume();
  }

  /** Stops for good; allowed after the limit has passed. */
  cancel(): void {
    this.#isCancelled = true;
    this.#stop();
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
