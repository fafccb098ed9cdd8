// How long a bot has for one question: over all questions that its caller waits through, and without the time in which somebody else
// is waited for.
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Bound over all questions that follow each other without an answer, in deadlines of one turn. */
const WHOLE_DEADLINES = 1.5;
/** What the newest question has in any case, ms: it may come at the very end of that time. */
const LEAST_MS = 1000;

/**
 * How long the bot has for a question, ms. Whoever acts again while the bot still thinks takes its question away and asks another
 * one; each has the turn's deadline, and without a bound over all of them a bot that hangs would leave an active caller in silence
 * for ever.
 *
 * @param waitedMs - how long the caller has waited for this answer and for those before it that never came.
 * @param deadlineMs - of one turn.
 */
export function answerLimitMs(waitedMs: number, deadlineMs: number): number {
  return Math.min(deadlineMs, Math.max(deadlineMs * WHOLE_DEADLINES - waitedMs, LEAST_MS));
}

/** Calls `onExpired` once after `limitMs` of counted time. Whoever made it calls `cancel`. */
export class Deadline {
  readonly #clock: Clock;
  /** Default: nothing. */
  onExpired: () => void = () => undefined;
  #leftMs: number;
  #runningSinceMs = 0;
  #cancelTimer: CancelTimer | undefined;
  #isCancelled = false;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
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
    this.#cancelTimer = this.#clock.after(this.#leftMs, () => {
      this.onExpired();
    });
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
