// Whether this process may get new calls, for the HTTP and gRPC health checks, and the reasons if not.

export interface ReadinessState {
  readonly ready: boolean;
  /** Why the process is not ready: some of {@link NOT_READY_REASONS}; empty when ready. */
  readonly reasons: readonly string[];
}

/** All reasons, public: health checks and a metric show them. `draining`: the process stops; `drained`: by an operator's command. */
export const NOT_READY_REASONS = ['starting', 'draining', 'drained', 'keys_unavailable', 'login_needed', 'descriptors'] as const;
export type NotReadyReason = (typeof NOT_READY_REASONS)[number];

const STARTING: NotReadyReason = 'starting';
/** The reason of a stopping process. */
export const DRAINING: NotReadyReason = 'draining';

/** Not ready at first, then ready, finally draining (P-09). Holds make the process not ready in between. */
export class Readiness {
  readonly #holds = new Map<symbol, string>();
  #hasStarted = false;
  #isDraining = false;
  /** The state that was last reported to the listener. */
  #wasReady = false;
  #onChange: (isReady: boolean) => void = () => undefined;

  /** Sets the one listener for changes between ready and not ready. */
  onChange(listener: (isReady: boolean) => void): void {
    this.#onChange = listener;
  }

  /** Called when everything is open: ready from now on, except while held. */
  started(): void {
    this.#hasStarted = true;
    this.#notify();
  }

  /** Makes the process not ready for good. */
  drain(): void {
    this.#isDraining = true;
    this.#notify();
  }

  /** Makes the process not ready until the returned, idempotent function is called. */
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
