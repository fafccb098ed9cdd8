// Whether this process takes new calls: until it stops, except while an operator has drained it. Running calls go on in any case.
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

  /** @param parts - what refuses new calls, or sends them to other servers. */
  constructor(readiness: Pick<Readiness, 'drain' | 'hold'>, parts: readonly Part[]) {
    this.#readiness = readiness;
    this.#parts = parts;
  }

  /** Takes no new calls, for good. */
  stop(): void {
    this.#isStopping = true;
    this.#readiness.drain();
    this.#drainParts(true);
  }

  /** Takes no new calls, or takes them again; a process that stops never does. */
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
