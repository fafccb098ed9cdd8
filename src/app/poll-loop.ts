// Polls again and again, and sooner for whoever asks: one poll for all who ask at the same time, and few of them in a row, so that a
// flood of questions is no flood of polls. Knows nothing of what is polled.
import { linkAbort, pause, waitAtMost, type LinkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';

export interface PollLoopOptions {
  /** One poll; it must not throw. */
  readonly poll: () => Promise<void>;
  /** Between two polls that nobody asks for, ms. */
  readonly everyMs: number;
  /** Least time between the beginnings of two polls, ms. */
  readonly gapMs: number;
  /** Longest wait of one who asks, ms. */
  readonly limitMs: number;
  /** Most who may wait at once; further ones are not waited for. */
  readonly maxWaiting: number;
  readonly clock: Clock;
}

/** A promise and what settles it. */
class Settled {
  settle: () => void = () => undefined;
  readonly done = new Promise<void>((resolve) => {
    this.settle = resolve;
  });
}

/** `close` must be called. */
export class PollLoop {
  readonly #options: PollLoopOptions;
  readonly #over: LinkedAbort = linkAbort();
  /** Of the poll that has not begun. */
  #asked = new Settled();
  #polled = new Settled();
  readonly #running: Promise<void>;
  #waiting = 0;

  /** Polls for the first time after {@link PollLoopOptions.everyMs}, unless somebody asks. */
  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Resolves when a poll is over that began after this call; earlier when it takes too long or too many wait. Never rejects. */
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

  /** No poll begins any more; one that goes on is waited for. */
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
      // A question during a poll is answered by the next one: this one may have read already what was written just now.
      [this.#asked, this.#polled] = [new Settled(), new Settled()];
      await poll();
      polled.settle();
    }
  }
}
