// Polls periodically, and sooner on request. Requests at the same time share one poll, and polls keep a distance, so that a flood of
// requests is no flood of polls. Does not know what it polls.
import { linkAbort, pause, waitAtMost, type LinkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';

export interface PollLoopOptions {
  /** One poll. Must not throw. */
  readonly poll: () => Promise<void>;
  /** Interval without requests, ms. */
  readonly everyMs: number;
  /** Least time between the starts of two polls, ms. */
  readonly gapMs: number;
  /** Longest wait of one request, ms. */
  readonly limitMs: number;
  /** Most waiting requests. Further ones do not wait. */
  readonly maxWaiting: number;
  readonly clock: Clock;
}

/** A promise with its resolve function. */
class Settled {
  settle: () => void = () => undefined;
  readonly done = new Promise<void>((resolve) => {
    this.settle = resolve;
  });
}

/** Call `close`. */
export class PollLoop {
  readonly #options: PollLoopOptions;
  readonly #over: LinkedAbort = linkAbort();
  /** The promise of the next poll. */
  #asked = new Settled();
  #polled = new Settled();
  readonly #running: Promise<void>;
  #waiting = 0;

  /** Starts. The first poll comes after {@link PollLoopOptions.everyMs}, or on request. */
  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Resolves after a poll that began later than this call; earlier when it takes too long or too many wait. Never rejects. */
  async now(): Promise<void> {
    const { limitMs, maxWaiting, clock } = this.#options;
    if (this.#over.isAborted || this.#waiting >= maxWaiting) return;
    this.#asked.settle();
    this.#waiting += 1;
    try {
      await waitAtMost(this.#polled.done, limitMs, clock, this.#over.signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Starts no more polls, and waits for the current one. */
  async close(): Promise<void> {
    this.#over.abort('shutdown');
    await this.#running;
  }

  async #run(): Promise<void> {
    const { poll, everyMs, gapMs, clock } = this.#options;
    const { signal } = this.#over;
    for (let begunAtMs = -Infinity; ;) {
      await waitAtMost(this.#asked.done, everyMs, clock, signal);
      const waitMs = begunAtMs + gapMs - clock.monotonicMs();
      if (waitMs > 0) await pause(waitMs, clock, signal);
      if (this.#over.isAborted) return;
      begunAtMs = clock.monotonicMs();
      const polled = this.#polled;
      // A request during a poll waits for the next one: this poll may have read before the change.
      [this.#asked, this.#polled] = [new Settled(), new Settled()];
      await poll();
      polled.settle();
    }
  }
}
