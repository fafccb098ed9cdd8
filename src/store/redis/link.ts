// The way to a Redis server that is always open or about to be: whenever its wire is lost, another one is tried, for ever,
// after a pause that grows up to a bound. Knows nothing of what is sent.
import { waitAtMost } from '../../base/abort.ts';
import { every, type CancelTimer, type Clock } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import type { RedisClient, RedisPackage } from './client-package.ts';
import { away, crowded, silent } from './failure.ts';
import { RedisWire } from './wire.ts';

/** The pause before the first new try, ms; twice as long before each further one. */
const FIRST_PAUSE_MS = 20;
/** The longest pause between two tries, ms. */
const MAX_PAUSE_MS = 2000;
/** A wire that was lost sooner than this did not end the trouble: the pauses go on growing, ms. */
const STEADY_MS = 5000;
/** Pause between two checks whether the server can still be used, ms: what nobody sends anything over may be gone for long. */
const CHECK_MS = 5000;
/** Most commands that wait for a lost connection to come back; further ones fail. */
const MAX_WAITING = 5000;

/** How a link is made. */
export interface LinkOptions {
  /** A client that is not connected yet. */
  readonly createClient: () => RedisClient;
  readonly isRefusal: RedisPackage['isRefusal'];
  /** Longest wait for one answer, a lost connection included, ms. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Draws numbers from 0 to 1. */
  readonly random: () => number;
  /** There is a wire that can be used. Must not throw. */
  readonly onUp: (wire: RedisWire) => void;
  /** A wire was lost, or could not be opened; called for each try. Must not throw. */
  readonly onDown: (failure: AppError) => void;
}

/** Whoever makes one closes it. */
export class RedisLink {
  /** Resolves when the first try has ended, well or not. */
  readonly tried: Promise<void>;
  readonly #options: LinkOptions;
  #settleTried: () => void = () => undefined;
  /** The one that is used, and before that the one that is being opened. */
  #wire: RedisWire;
  #isUp = false;
  #isClosed = false;
  /** When the link went up or down; before it was ever up: when it was made. */
  #changedAtMs: number;
  /** Tries that failed in a row. */
  #failures = 0;
  /** What the last one failed with; undefined while the link is up. */
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

  /** The wire that can be used now. */
  get wire(): RedisWire | undefined {
    return this.#isUp ? this.#wire : undefined;
  }

  /**
   * Sends one command. While the connection has only just been lost, it waits for another one.
   *
   * @param limitMs - longest wait for the answer, ms; the usual one when left out, and never longer.
   * @throws AppError `store_unavailable`; without a connection it says what the last try failed with.
   */
  async send(args: readonly string[], limitMs = this.#options.timeoutMs): Promise<unknown> {
    if (this.#isUp) return this.#wire.send(args, limitMs);
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + limitMs;
    const wire = await this.#soon(limitMs);
    return wire.send(args, Math.max(0, untilMs - clock.monotonicMs()));
  }

  /** Gives everything up. What waits fails. Resolves when nothing of the connection is left, in bounded time. */
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
        // `onLost` has been called.
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
      // What it finds out, the wire acts upon.
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

  /** The next wire, when it comes in time. Long after the last one was lost nobody waits: the caller has something better to do. */
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

/** A random pause, so that servers which lost the same server at the same moment do not all come back at the same moment. */
function pauseMs(failures: number, random: () => number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + random() / 2);
}
