// Runs steps one after another until stopped, with a pause after each that the step returns. Does not know the steps.
import { linkAbort, waitAtMost, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';

/** The loop of one reconciler. Call `stop`. */
export class StepLoop {
  readonly #step: (signal: AbortSignal) => Promise<number>;
  readonly #clock: Clock;
  readonly #over: LinkedAbort = linkAbort();
  /** Callers that wait until the next step has ended. */
  readonly #waiting: (() => void)[] = [];
  #wake: () => void = () => undefined;
  #running: Promise<void> | undefined;

  /** @param step - runs one step; never throws. Returns the pause until the next step, ms. */
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

  /** Ends the current pause, if any. Resolves after the next step, or when the loop has stopped. */
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

  /** Stops the loop. Resolves when no step runs any more. Idempotent. */
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
