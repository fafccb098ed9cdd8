// Whether this replica may get new calls, for the HTTP and gRPC health checks, with the reasons if not.

export interface ReadinessState {
  readonly ready: boolean;
  /** Why not, of {@link NOT_READY_REASONS}; empty when ready. */
  readonly reasons: readonly string[];
}

/** Every reason. Public: health checks and a metric show them. `draining`: it stops; `drained`: an operator has drained it. */
export const NOT_READY_REASONS = ['starting', 'draining', 'drained', 'keys_unavailable', 'login_needed', 'descriptors'] as const;
export type NotReadyReason = (typeof NOT_READY_REASONS)[number];

const STARTING: NotReadyReason = 'starting';
/** The reason of a stopping replica. */
export const DRAINING: NotReadyReason = 'draining';

/** Starts as not ready, then ready, at last draining (P-09). Holds make it not ready in between. */
export class Readiness {
  readonly #holds = new Map<symbol, string>();
  #hasStarted = false;
  #isDraining = false;
  /** The last state sent to the listener. */
  #wasReady = false;
  #onChange: (isReady: boolean) => void = () => undefined;

  /** Sets the one listener for changes between ready and not ready. */
  onChange(listener: (isReady: boolean) => void): void {
    this.#onChange = listener;
  }

  /** Everything is open: the replica is ready unless it is held. */
  started(): void {
    this.#hasStarted = true;
    this.#notify();
  }

  /** Makes the replica not ready for good. */
  drain(): void {
    this.#isDraining = true;
    this.#notify();
  }

  /** Makes the replica not ready until the returned, idempotent function is called. */
  hold(reason: NotReadyReason): () => void {
    const key = Symbol(reason);
    this.#holds.set(key, reason);
    this.#notify();
    return () => {
      this.#holds.delete(key);
      this.#notify();
    };
  }

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
