// Polls periodically, and earlier on request. Concurrent requests share one poll, and polls have a minimum distance, so that a flood of
// requests is no flood of polls. Does not know what it polls.
import { linkAbort, pause, waitAtMost, type LinkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';

export interface PollLoopOptions {
  /** One poll. Must not throw. */
  readonly poll: () => Promise<void>;
  /** Interval of polls without requests, ms. */
  readonly everyMs: number;
  /** Minimum time between the starts of two polls, ms. */
  readonly gapMs: number;
  /** Longest wait of a request, ms. */
  readonly limitMs: number;
  /** Most waiting requests; further ones return at once. */
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

/** A running loop. Call `close`. */
export class PollLoop {
  readonly #options: PollLoopOptions;
  readonly #over: LinkedAbort = linkAbort();
  /** Settled when the next poll has been requested. */
  #asked = new Settled();
  #polled = new Settled();
  readonly #running: Promise<void>;
  #waiting = 0;

  /** Starts. The first poll comes after {@link PollLoopOptions.everyMs}, or on request. */
  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Resolves after a poll that began after this call, or earlier when that takes too long or too many requests wait. Never rejects. */
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
      // Requests during a poll wait for the next one, because this poll may already have read the old state.
      [this.#asked, this.#polled] = [new Settled(), new Settled()];
      await poll();
      polled.settle();
    }
  }
}
