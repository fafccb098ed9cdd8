// Stops requests to a failing service: after several failures in a row it lets no request pass for a while, then a single one as a test.
// Uses no timer; knows nothing of the requests.
import type { Clock } from './clock.ts';

/** `closed`: everything may pass. `open`: nothing may. `half_open`: a single request tests whether the service works again. */
export type CircuitState = (typeof CIRCUIT_STATES)[number];
export const CIRCUIT_STATES = ['closed', 'open', 'half_open'] as const;

/** When the circuit opens and for how long. */
export interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** Failures in a row that open the circuit; default 5. */
  readonly maxFailures?: number;
  /** How long the circuit stays open the first time, ms; default 2,000. Doubled with each test that fails. */
  readonly openMs?: number;
  /** The longest time that the circuit stays open, ms; default 30,000. */
  readonly maxOpenMs?: number;
  /** Called at every change; must not throw. */
  readonly onChange?: (state: CircuitState) => void;
}

/** Permission for one request. Exactly one member is called when its outcome is known; further calls do nothing. */
export interface CircuitPass {
  succeeded(): void;
  failed(): void;
  /** The request was cancelled: it says nothing about the service. */
  abandoned(): void;
}

/** The circuit before one service. */
export class CircuitBreaker {
  readonly #options: Required<Omit<CircuitBreakerOptions, 'onChange'>>;
  readonly #onChange: (state: CircuitState) => void;
  #state: CircuitState = 'closed';
  /** Number of state changes so far: the result of a request from before the last change is ignored. */
  #era = 0;
  #failures = 0;
  #openMs: number;
  #openedAtMs = 0;

  constructor({ onChange, ...options }: CircuitBreakerOptions) {
    this.#options = { maxFailures: 5, openMs: 2000, maxOpenMs: 30_000, ...options };
    this.#openMs = this.#options.openMs;
    this.#onChange = onChange ?? (() => undefined);
  }

  get state(): CircuitState {
    return this.#state;
  }

  /** Permission for one request; undefined while the circuit is open or another request is the test. */
  enter(): CircuitPass | undefined {
    if (this.#state === 'open' && this.#options.clock.monotonicMs() - this.#openedAtMs >= this.#openMs) this.#change('half_open');
    else if (this.#state !== 'closed') return undefined;
    return this.#pass();
  }

  #pass(): CircuitPass {
    const era = this.#era;
    let isUsed = false;
    const once = (then: () => void) => (): void => {
      if (isUsed || era !== this.#era) return;
      isUsed = true;
      then();
    };
    return {
      succeeded: once(() => {
        this.#failures = 0;
        this.#openMs = this.#options.openMs;
        if (this.#state !== 'closed') this.#change('closed');
      }),
      failed: once(() => {
        this.#failures += 1;
        if (this.#state === 'half_open') this.#openMs = Math.min(this.#openMs * 2, this.#options.maxOpenMs);
        if (this.#state === 'half_open' || this.#failures >= this.#options.maxFailures) this.#open();
      }),
      abandoned: once(() => {
        // The next request may be the test at once.
        if (this.#state === 'half_open') this.#change('open');
      }),
    };
  }

  #open(): void {
    this.#failures = 0;
    this.#openedAtMs = this.#options.clock.monotonicMs();
    this.#change('open');
  }

  #change(state: CircuitState): void {
    this.#state = state;
    this.#era += 1;
    this.#onChange(state);
  }
}
