// Starts calls when they are due, whether or not earlier ones are over, and reports their facts. Knows no process: one of
// these runs in each worker.
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Arrival } from './arrivals.ts';
import type { CallFacts, WaitFact } from './call-facts.ts';
import { Histogram } from './histogram.ts';

/** What happened since the last report. */
export interface GeneratorReport {
  /** Calls under way, and finished ones whose own connection is still open. */
  readonly live: number;
  readonly started: number;
  /** Arrivals for which there was no room: the load itself is too small. */
  readonly missed: number;
  readonly waits: readonly WaitFact[];
  readonly calls: readonly CallFacts[];
  /** How late calls were started. */
  readonly startLateness: Histogram;
}

export interface GeneratorOptions {
  readonly clock: Clock;
  /** When the run begins, monotonic, ms. */
  readonly zeroMs: number;
  /** In order. */
  readonly arrivals: Iterator<Arrival, undefined>;
  /** Most parallel calls, including those that are closing. */
  readonly maxLive: number;
  /** Finished calls whose connections are still closing. Default none. */
  readonly closing?: () => number;
  /** Runs one call to its end. If it rejects, the whole run does. */
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

  /** Begins with the first arrival when it is due. */
  constructor(options: GeneratorOptions) {
    this.#options = options;
    this.#over = new Promise((resolve, reject) => {
      this.#resolveOver = resolve;
      this.#rejectOver = reject;
    });
    this.#next = options.arrivals.next().value;
    this.#beginDue();
  }

  /** Resolves when nothing more arrives and every call is over; rejects with the error that prevented a call. */
  get over(): Promise<void> {
    return this.#over;
  }

  /** No further call begins. */
  stop(): void {
    this.#cancelTimer();
    this.#next = undefined;
    this.#settle();
  }

  /** What happened since the last time. */
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
    // Of several calls that are due together, each waits for those before it.
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
