// Starting and stopping in order. What was opened last is closed first; each step has a bounded time, and a step that
// fails does not keep the others from closing.
import { waitAtMost } from './abort.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

/** One thing that must be closed before the process may end. */
interface Opened {
  readonly name: string;
  readonly close: () => Promise<void> | void;
  readonly limitMs: number;
}

/** Collects what was opened and closes it once, in reverse order. */
export class Lifecycle {
  readonly #opened: Opened[] = [];
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #limitMs: number;
  #closing: Promise<void> | undefined;

  /** @param options.limitMs - longest wait for one step that names no limit of its own, ms; after that the next step runs. */
  constructor(options: { clock: Clock; log: Logger; limitMs: number }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#limitMs = options.limitMs;
  }

  /** Remembers how to close something that has just been opened. */
  opened(name: string, close: () => Promise<void> | void, limitMs = this.#limitMs): void {
    this.#opened.push({ name, close, limitMs });
  }

  /** Closes everything. Calling it again waits for the first call. Never throws. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (let step = this.#opened.pop(); step !== undefined; step = this.#opened.pop()) {
      try {
        const waited = await waitAtMost(Promise.resolve(step.close()), step.limitMs, this.#clock);
        if (waited.kind !== 'value')
          this.#log.warn({ step: step.name, limitMs: step.limitMs }, 'closing took too long; going on without it');
      } catch (error) {
        this.#log.error({ step: step.name, err: error }, 'closing failed; going on with the rest');
      }
    }
  }
}
