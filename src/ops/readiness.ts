// May this replica be given new calls? One answer for the HTTP and the gRPC health checks, with the reasons for a no.
// Knows nothing of what it waits for.

/** The answer of a readiness check. */
export interface ReadinessState {
  readonly ready: boolean;
  /** Why not, in words of ours; empty when ready. */
  readonly reasons: readonly string[];
}

const STARTING = 'starting';
/** The reason of one that stops. */
export const DRAINING = 'draining';

/** Starts as not ready, becomes ready once, and ends as draining (P-09). In between, holds may make it not ready. */
export class Readiness {
  readonly #holds = new Map<symbol, string>();
  #hasStarted = false;
  #isDraining = false;
  /** The last answer of which the listener was notified. */
  #wasReady = false;
  #onChange: (isReady: boolean) => void = () => undefined;

  /** Has `listener`, and nobody else, notified whenever ready turns to not ready or back; it is not ready at first. */
  onChange(listener: (isReady: boolean) => void): void {
    this.#onChange = listener;
  }

  /** Everything is open: from now on the replica is ready unless something holds it. */
  started(): void {
    this.#hasStarted = true;
    this.#notify();
  }

  /** No new calls from now on; there is no way back. */
  drain(): void {
    this.#isDraining = true;
    this.#notify();
  }

  /**
   * Makes the replica not ready until the returned function is called; that is harmless more than once.
   *
   * @param reason - fixed words without caller data: health checks show them.
   */
  hold(reason: string): () => void {
    const key = Symbol(reason);
    this.#holds.set(key, reason);
    this.#notify();
    return () => {
      this.#holds.delete(key);
      this.#notify();
    };
  }

  /** The answer at this moment. */
  get current(): ReadinessState {
    const phase = this.#isDraining ? [DRAINING] : this.#hasStarted ? [] : [STARTING];
    const reasons = [...phase, ...new Set(this.#holds.values())];
    return { ready: reasons.length === 0, reasons };
  }

  #notify(): void {
    const { ready } = this.current;
    if (ready === this.#wasReady) return;
    this.#wasReady = ready;
    this.#onChange(ready);
  }
}
