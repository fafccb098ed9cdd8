// How soon a worker that has ended is replaced: at first at once, then after growing pauses, so that workers that cannot live
// do not take the machine from those that can. Starts nothing itself.
import type { Clock } from '../../base/clock.ts';

/** Ends that lie further back are forgotten, ms. */
const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** So many ends within the window are too many, for few workers; more workers may end as often each. */
const LEAST_LIMIT = 10;
const LIMIT_PER_WORKER = 3;

/** What follows from an end. */
export interface Restart {
  /** Ends within the last minute, this one included. */
  readonly recentEnds: number;
  /** Wait so long before the next start, ms. */
  readonly pauseMs: number;
  readonly isTooOften: boolean;
}

/** Remembers when workers ended. */
export class Restarts {
  readonly #clock: Clock;
  readonly #limit: number;
  /** Monotonic ms, the oldest first. */
  #ends: readonly number[] = [];

  /** @param options.workers - how many there are when all is well. */
  constructor({ clock, workers }: { readonly clock: Clock; readonly workers: number }) {
    this.#clock = clock;
    this.#limit = Math.max(LEAST_LIMIT, LIMIT_PER_WORKER * workers);
  }

  /** A worker has ended. */
  next(): Restart {
    const nowMs = this.#clock.monotonicMs();
    // One more than the limit says all that is asked.
    this.#ends = [...this.#ends.filter((endedMs) => nowMs - endedMs < WINDOW_MS), nowMs].slice(-this.#limit - 1);
    const recentEnds = this.#ends.length;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (recentEnds - 1), LONGEST_PAUSE_MS);
    return { recentEnds, pauseMs, isTooOften: recentEnds > this.#limit };
  }
}
