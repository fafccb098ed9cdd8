// One look for all who ask at the same time, and few of them in a row: so that a flood of questions is no flood of looks. Knows
// nothing of what is looked at.
import { linkAbort, pause, waitAtMost, type LinkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';

/** What it is made with. */
export interface CoalescedLookOptions {
  /** One look; what it rejects with is nobody's business here. */
  readonly look: () => Promise<unknown>;
  /** Least time between the beginnings of two looks, ms. */
  readonly gapMs: number;
  /** Longest wait of one who asks, ms. */
  readonly limitMs: number;
  /** Most who may wait at once; further ones are not waited for. */
  readonly maxWaiting: number;
  readonly clock: Clock;
}

/** `close` must be called. */
export class CoalescedLook {
  readonly #options: CoalescedLookOptions;
  readonly #over: LinkedAbort = linkAbort();
  /** The look that has not begun. */
  #next: Promise<void> | undefined;
  /** The one that goes on. */
  #running: Promise<unknown> = Promise.resolve();
  #begunAtMs = -Infinity;
  #waiting = 0;

  constructor(options: CoalescedLookOptions) {
    this.#options = options;
  }

  /** Resolves when a look is over that began after this call; earlier when it takes too long or too many wait. Never rejects. */
  async now(): Promise<void> {
    const { limitMs, maxWaiting, clock } = this.#options;
    if (this.#over.isAborted || this.#waiting >= maxWaiting) return;
    // One that goes on may have read already what was written just now.
    this.#next ??= this.#later();
    this.#waiting += 1;
    try {
      await waitAtMost(this.#next, limitMs, clock, this.#over.signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  /** No look begins any more; one that goes on is waited for. */
  async close(): Promise<void> {
    this.#over.abort('shutdown');
    await this.#next;
    await this.#running;
  }

  async #later(): Promise<void> {
    const { look, gapMs, clock } = this.#options;
    await this.#running;
    const waitMs = this.#begunAtMs + gapMs - clock.monotonicMs();
    if (waitMs > 0) await pause(waitMs, clock, this.#over.signal);
    this.#next = undefined;
    if (this.#over.isAborted) return;
    this.#begunAtMs = clock.monotonicMs();
    this.#running = look().catch(() => undefined);
    await this.#running;
  }
}
