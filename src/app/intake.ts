// Whether this process takes new calls: until it stops, unless an operator has drained it. Running calls are not affected.
import type { Readiness } from '../ops/readiness.ts';

interface Part {
  drain(isDraining: boolean): void;
}

/** One per process that takes calls. */
export class Intake {
  readonly #readiness: Pick<Readiness, 'drain' | 'hold'>;
  readonly #parts: readonly Part[];
  #undrain: (() => void) | undefined;
  #isStopping = false;

  /** @param parts - the parts that refuse new calls, or send them to other servers. */
  constructor(readiness: Pick<Readiness, 'drain' | 'hold'>, parts: readonly Part[]) {
    this.#readiness = readiness;
    this.#parts = parts;
  }

  /** Takes no new calls from now on, for good. */
  stop(): void {
    this.#isStopping = true;
    this.#readiness.drain();
    this.#drainParts(true);
  }

  /** Stops or resumes taking new calls. No effect in a stopping process. */
  setDrained(isDrained: boolean): void {
    if (this.#isStopping) return;
    if (isDrained) this.#undrain ??= this.#readiness.hold('drained');
    this.#drainParts(isDrained);
    if (isDrained) return;
    this.#undrain?.();
    this.#undrain = undefined;
  }

  #drainParts(isDraining: boolean): void {
    for (const part of this.#parts) part.drain(isDraining);
  }
}
