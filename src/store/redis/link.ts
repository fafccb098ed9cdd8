// A permanent link to a Redis server: when its wire is lost, it opens another one, after a growing but bounded pause, without end. Does not
// know what is sent.
import { waitAtMost } from '../../base/abort.ts';
import { every, type CancelTimer, type Clock } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import type { RedisClient, RedisPackage } from './client-package.ts';
import { away, crowded, silent } from './failure.ts';
import { RedisWire } from './wire.ts';

/** The pause before the first reconnection, ms; doubled with each further attempt. */
const FIRST_PAUSE_MS = 20;
/** The longest pause between two attempts, ms. */
const MAX_PAUSE_MS = 2000;
/** A wire that lasted less than this keeps the pauses growing, ms. */
const STEADY_MS = 5000;
/** Interval of health checks, ms: the loss of an idle connection would stay unnoticed. */
const CHECK_MS = 5000;
/** Most commands that wait for a new connection; further ones fail. */
const MAX_WAITING = 5000;

/** The options of a link. */
export interface LinkOptions {
  /** A client that is not connected yet. */
  readonly createClient: () => RedisClient;
  readonly isRefusal: RedisPackage['isRefusal'];
  /** Longest wait for one answer, ms, including the wait for a new connection. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Random numbers from 0 to 1. */
  readonly random: () => number;
  /** Called when a new wire is usable. Must not throw. */
  readonly onUp: (wire: RedisWire) => void;
  /** Called when a wire was lost or an attempt failed. Must not throw. */
  readonly onDown: (failure: AppError) => void;
}

/** Call `close`. */
export class RedisLink {
  /** Resolves when the first connection attempt has ended, successfully or not. */
  readonly tried: Promise<void>;
  readonly #options: LinkOptions;
  #settleTried: () => void = () => undefined;
  /** The current wire, usable or being opened. */
  #wire: RedisWire;
  #isUp = false;
  #isClosed = false;
  /** When the link last went up or down, monotonic ms; at first, when it was created. */
  #changedAtMs: number;
  /** Failed attempts in a row. */
  #failures = 0;
  /** The error of the last attempt; undefined while the link is up. */
  #failure: AppError | undefined;
  #cancelPause: CancelTimer = () => undefined;
  #cancelCheck: CancelTimer = () => undefined;
  readonly #waiting = new Set<(wire: RedisWire | undefined) => void>();

  constructor(options: LinkOptions) {
    this.#options = options;
    this.tried = new Promise((resolve) => {
      this.#settleTried = resolve;
    });
    this.#changedAtMs = options.clock.monotonicMs();
    this.#wire = this.#openWire();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The usable wire; undefined while the link is down. */
  get wire(): RedisWire | undefined {
    return this.#isUp ? this.#wire : undefined;
  }

  /**
   * Sends one command. Waits for a new connection when the previous one was lost less than `timeoutMs` ago.
   *
   * @param limitMs - longest wait for the answer, ms; never longer than the default.
   * @throws AppError `store_unavailable`; without a connection, the error of the last attempt.
   */
  async send(args: readonly string[], limitMs = this.#options.timeoutMs): Promise<unknown> {
    if (this.#isUp) return this.#wire.send(args, limitMs);
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + limitMs;
    const wire = await this.#soon(limitMs);
    return wire.send(args, Math.max(0, untilMs - clock.monotonicMs()));
  }

  /** Closes everything. Pending commands fail. Resolves in bounded time, when nothing of the connection is left. */
  async close(): Promise<void> {
    const { clock, timeoutMs } = this.#options;
    this.#isClosed = true;
    this.#isUp = false;
    this.#cancelPause();
    this.#cancelCheck();
    this.#wire.end();
    this.#settleTried();
    this.#settleWaiting(undefined);
    await waitAtMost(this.#wire.ended, timeoutMs, clock);
  }

  #openWire(): RedisWire {
    const { createClient, isRefusal, timeoutMs, clock } = this.#options;
    const wire: RedisWire = new RedisWire({
      client: createClient(),
      isRefusal,
      timeoutMs,
      clock,
      onLost: (failure) => {
        this.#down(failure);
      },
    });
    wire.open().then(
      () => {
        if (!wire.isLost) this.#up();
      },
      () => {
        // When opening fails, the wire has already called `onLost`.
      },
    );
    return wire;
  }

  #up(): void {
    const { clock, onUp } = this.#options;
    this.#isUp = true;
    this.#failure = undefined;
    this.#changedAtMs = clock.monotonicMs();
    this.#cancelCheck = every(clock, CHECK_MS, () => {
      // The wire itself handles a failed check.
      this.#wire.check().catch(() => undefined);
    });
    onUp(this.#wire);
    this.#settleTried();
    this.#settleWaiting(this.#wire);
  }

  #down(failure: AppError): void {
    const { clock, random, onDown } = this.#options;
    if (this.#isUp) {
      const nowMs = clock.monotonicMs();
      if (nowMs - this.#changedAtMs >= STEADY_MS) this.#failures = 0;
      this.#isUp = false;
      this.#changedAtMs = nowMs;
      this.#cancelCheck();
    }
    this.#cancelPause = clock.after(pauseMs(this.#failures, random), () => {
      this.#wire = this.#openWire();
    });
    this.#failures += 1;
    this.#failure = failure;
    onDown(failure);
    this.#settleTried();
  }

  /** The next wire, if it comes in time. Rejects at once when the link has been down for `timeoutMs`. */
  async #soon(limitMs: number): Promise<RedisWire> {
    const { clock, timeoutMs } = this.#options;
    const leftMs = Math.min(limitMs, this.#changedAtMs + timeoutMs - clock.monotonicMs());
    if (this.#isClosed) throw away();
    if (leftMs <= 0) throw this.#failure ?? away();
    if (this.#waiting.size >= MAX_WAITING) throw crowded();
    let forget: () => void = () => undefined;
    const next = new Promise<RedisWire | undefined>((resolve) => {
      this.#waiting.add(resolve);
      forget = () => this.#waiting.delete(resolve);
    });
    const waited = await waitAtMost(next, leftMs, clock);
    forget();
    if (waited.kind !== 'value') throw this.#failure ?? silent();
    if (waited.value === undefined) throw away();
    return waited.value;
  }

  #settleWaiting(wire: RedisWire | undefined): void {
    for (const settle of this.#waiting) settle(wire);
    this.#waiting.clear();
  }
}

/** A random pause, so that servers which lost Redis at the same moment do not all reconnect at the same moment. */
function pauseMs(failures: number, random: () => number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + random() / 2);
}
