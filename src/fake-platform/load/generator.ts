// Starts calls when they are due, whether or not earlier ones are over, and reports their facts. Knows no process; each worker runs one
// generator.
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Arrival } from './arrivals.ts';
import type { CallFacts, WaitFact } from './call-facts.ts';
import { Histogram } from './histogram.ts';

/** Everything since the last report. */
export interface GeneratorReport {
  /** Running calls, and finished calls whose connection is still open. */
  readonly live: number;
  readonly started: number;
  /** Arrivals without room for another call: the load itself is too small. */
  readonly missed: number;
  readonly waits: readonly WaitFact[];
  readonly calls: readonly CallFacts[];
  /** How late calls were started, ms. */
  readonly startLateness: Histogram;
}

export interface GeneratorOptions {
  readonly clock: Clock;
  /** When the run begins, monotonic ms. */
  readonly zeroMs: number;
  /** In order of time. */
  readonly arrivals: Iterator<Arrival, undefined>;
  /** Most parallel calls, including finished calls whose connections are closing. */
  readonly maxLive: number;
  /** Number of finished calls whose connections are closing. Undefined: none. */
  readonly closing?: () => number;
  /** Runs one call to its end. If the promise rejects, the whole run does. */
  readonly hold: (arrival: Arrival, onWaited: (wait: WaitFact) => void) => Promise<CallFacts>;
}

export class Generator {
  readonly #options: GeneratorOptions;
  readonly #over: Promise<void>;
  #resolveOver: () => void = () => undefined;
  #rejectOver: (error: unknown) => void = () => undefined;
  #cancelTimer: CancelTimer = () => undefined;
  #next: Arrival | undefined;
  #live = 0;
  #started = 0;
  #missed = 0;
  #waits: WaitFact[] = [];
  #calls: CallFacts[] = [];
  #startLateness = Histogram.coarse();

  /** Starts every arrival when it is due, from the first one on. */
  constructor(options: GeneratorOptions) {
    this.#options = options;
    this.#over = new Promise((resolve, reject) => {
      this.#resolveOver = resolve;
      this.#rejectOver = reject;
    });
    this.#next = options.arrivals.next().value;
    this.#beginDue();
  }

  /** Resolves when no more arrivals come and every call is over; rejects with the error of a call that could not run. */
  get over(): Promise<void> {
    return this.#over;
  }

  /** Starts no more calls. */
  stop(): void {
    this.#cancelTimer();
    this.#next = undefined;
    this.#settle();
  }

  /** Everything since the last report; begins a new one. */
  take(): GeneratorReport {
    const report = {
      live: this.#taken,
      started: this.#started,
      missed: this.#missed,
      waits: this.#waits,
      calls: this.#calls,
      startLateness: this.#startLateness,
    };
    this.#started = 0;
    this.#missed = 0;
    this.#waits = [];
    this.#calls = [];
    this.#startLateness = Histogram.coarse();
    return report;
  }

  get #taken(): number {
    return this.#live + (this.#options.closing?.() ?? 0);
  }

  #beginDue(): void {
    const { clock, zeroMs } = this.#options;
    const nowMs = clock.monotonicMs() - zeroMs;
    while (this.#next !== undefined && this.#next.dueMs <= nowMs) {
      this.#begin(this.#next);
      this.#next = this.#options.arrivals.next().value;
    }
    if (this.#next === undefined) this.#settle();
    else {
      this.#cancelTimer = clock.after(this.#next.dueMs - nowMs, () => this.#beginDue());
    }
  }

  #begin(arrival: Arrival): void {
    const { clock, zeroMs } = this.#options;
    // Recorded for each call when it starts: of calls that are due together, the later ones wait for the earlier ones.
    this.#startLateness.record(clock.monotonicMs() - zeroMs - arrival.dueMs);
    if (this.#taken >= this.#options.maxLive) {
      this.#missed += 1;
      return;
    }
    this.#live += 1;
    this.#started += 1;
    const held = this.#options.hold(arrival, (wait) => this.#waits.push(wait));
    held.then(
      (facts) => {
        this.#live -= 1;
        this.#calls.push(facts);
        this.#settle();
      },
      (error: unknown) => {
        this.stop();
        this.#rejectOver(error);
      },
    );
  }

  #settle(): void {
    if (this.#next === undefined && this.#live === 0) this.#resolveOver();
  }
}
