// The platform's own pings on a socket: JSON messages, each answered with its `seq` (W-40). Reports a missing answer.
import type { CancelTimer, Clock } from '../../../base/clock.ts';
import type { Breach } from '../wire-rules.ts';

/** Time until the first PING of a call, ms: soon enough for a short call. */
const FIRST_PING_MS = 1000;
/** Time from an answer to the next PING, ms. The real platform's interval is not known (W-42). */
const PING_MS = 10_000;

/** Options of {@link KeepAlive}. */
export interface KeepAliveOptions {
  readonly clock: Clock;
  /** Longest wait for a PONG, ms. */
  readonly limitMs: number;
  /** Sends a PING. @returns its `seq`. */
  readonly ping: () => number;
  readonly found: (breach: Breach) => void;
}

/** The pings of one call. `stop` must be called at the end. */
export class KeepAlive {
  readonly #options: KeepAliveOptions;
  #awaitedSeq: number | undefined;
  #isPaused = false;
  #cancelTimer: CancelTimer = () => undefined;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
  }

  start(): void {
    this.#pingAfter(FIRST_PING_MS);
  }

  /** Takes a PONG with its `seq`. */
  answered(seq: number): void {
    if (this.#awaitedSeq === undefined) return;
    if (seq !== this.#awaitedSeq) {
      const message = `a PONG carries ${String(seq)} and not the seq of its PING, ${String(this.#awaitedSeq)}`;
      this.#options.found({ code: 'pong_missing', rule: 'W-40', message });
    }
    this.#awaitedSeq = undefined;
    this.#pingAfter(PING_MS);
  }

  /** Stops the limit while reading pauses: a PONG would not be seen. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    if (this.#awaitedSeq !== undefined) this.#cancelTimer();
  }

  /** Starts the limit of an expected PONG again when reading continues. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#awaitedSeq !== undefined) this.#limit();
  }

  stop(): void {
    this.#awaitedSeq = undefined;
    this.#cancelTimer();
  }

  #pingAfter(ms: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(ms, () => {
      this.#awaitedSeq = this.#options.ping();
      if (!this.#isPaused) this.#limit();
    });
  }

  #limit(): void {
    const { clock, limitMs, found } = this.#options;
    this.#cancelTimer = clock.after(limitMs, () => {
      found({ code: 'pong_missing', rule: 'W-40', message: `a PING was not answered within ${String(limitMs)} ms` });
      this.#awaitedSeq = undefined;
      this.#pingAfter(PING_MS);
    });
  }
}
