// Steps one after the other, each with the pause after it that it asks for, until the end. Knows nothing of what they do.
import { linkAbort, waitAtMost, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';

/** The loop of one reconciler. `stop` must be called. */
export class StepLoop {
  readonly #step: (signal: AbortSignal) => Promise<number>;
  readonly #clock: Clock;
  readonly #over: LinkedAbort = linkAbort();
  /** Whoever waits for the end of the next step. */
  readonly #waiting: (() => void)[] = [];
  #wake: () => void = () => undefined;
  #running: Promise<void> | undefined;

  /** @param step - one step; never throws, and gives the pause until the next one, ms. */
  constructor(step: (signal: AbortSignal) => Promise<number>, clock: Clock) {
    this.#step = step;
    this.#clock = clock;
  }

  /** Begins, unless it has. Resolves when the next step is over, or everything is. */
  begin(): Promise<void> {
    const stepped = this.next();
    this.#running ??= this.#run();
    return stepped;
  }

  /** Ends the pause that is under way, if one is. Resolves when the next step is over, or everything is. */
  hurry(): Promise<void> {
    this.#wake();
    return this.next();
  }

  /** Resolves when the next step is over, or everything is. */
  next(): Promise<void> {
    if (this.#over.isAborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Resolves when nothing goes on any more. Idempotent. */
  async stop(): Promise<void> {
    this.#over.abort('shutdown');
    await this.#running;
    this.#notifyWaiting();
  }

  async #run(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const pauseMs = await this.#step(signal);
      this.#notifyWaiting();
      await waitAtMost(woken, pauseMs, this.#clock, signal);
    }
  }

  #notifyWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
