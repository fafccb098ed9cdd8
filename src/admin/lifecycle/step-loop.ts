// Runs steps one after another, each followed by the pause that it returns, until stopped. Does not know the steps.
import { linkAbort, waitAtMost, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';

/** The loop of one reconciler. Call `stop`. */
export class StepLoop {
  readonly #step: (signal: AbortSignal) => Promise<number>;
  readonly #clock: Clock;
  readonly #over: LinkedAbort = linkAbort();
  /** Callers that wait for the end of the next step. */
  readonly #waiting: (() => void)[] = [];
  #wake: () => void = () => undefined;
  #running: Promise<void> | undefined;

  /** @param step - one step; never throws, and returns the pause until the next one, ms. */
  constructor(step: (signal: AbortSignal) => Promise<number>, clock: Clock) {
    this.#step = step;
    this.#clock = clock;
  }

  /** Starts, unless started. Resolves after the next step, or when the loop has stopped. */
  begin(): Promise<void> {
    const stepped = this.next();
    this.#running ??= this.#run();
    return stepped;
  }

  /** Ends the current pause, if there is one. Resolves after the next step, or when the loop has stopped. */
  hurry(): Promise<void> {
    this.#wake();
    return this.next();
  }

  /** Resolves after the next step, or when the loop has stopped. */
  next(): Promise<void> {
    if (this.#over.isAborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Resolves when nothing runs any more. Idempotent. */
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
