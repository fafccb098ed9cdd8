// Whether any token can be accepted. While no key is usable, it blocks what it is given (`hold`) and keeps asking the issuers. Does not
// know what it blocks.
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { KeySource } from './key-source.ts';

/** What a watch works with. */
export interface KeyWatchOptions {
  readonly keys: Pick<KeySource, 'needed' | 'onChange'>;
  /** Called when no token can be accepted; the returned function is called when one can again. */
  readonly hold: () => () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Blocks until the first of the needed issuers has given keys, and again when the last usable keys have expired and all of these
 * issuers fail. Keys of one issuer are enough: an issuer that cannot be reached must not keep the callers of the others away.
 *
 * Runs on notifications and one timer, and respects the issuers' pauses (J-14, J-25).
 */
export class KeyWatch {
  readonly #options: KeyWatchOptions;
  #release: (() => void) | undefined;
  /** When it was logged that no key is usable, monotonic ms; undefined while one is. */
  #loggedAtMs: number | undefined;
  #cancelCheck: CancelTimer = () => undefined;
  #isClosed = false;
  #answered: () => void = () => undefined;

  constructor(options: KeyWatchOptions) {
    this.#options = options;
  }

  /** Begins. @returns resolves when the first keys are there, or every issuer has failed once; never rejects. */
  start(): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      this.#answered = resolve;
    });
    this.#release = this.#options.hold();
    this.#options.keys.onChange(() => {
      this.#check();
    });
    this.#check();
    return answered;
  }

  /** Asks no more. What is blocked stays blocked: the server takes no calls any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelCheck();
    this.#answered();
  }

  #check(): void {
    if (this.#isClosed) return;
    this.#cancelCheck();
    const { keys, clock } = this.#options;
    const { needed } = keys;
    const nowMs = clock.monotonicMs();
    const servesUntilMs = Math.max(...needed.map((issuer) => issuer.servesUntilMs));
    if (nowMs < servesUntilMs) {
      this.#goOn(nowMs);
      this.#checkAfter(servesUntilMs - nowMs);
      return;
    }
    // Ask first: on a quiet night keys expire because no call needed new ones.
    if (needed.every((issuer) => issuer.isFailing)) this.#wait(nowMs, needed.length);
    for (const issuer of needed) if (issuer.asksFromMs <= nowMs) issuer.ask();
    this.#checkAfter(Math.min(...needed.map((issuer) => issuer.asksFromMs)) - nowMs);
  }

  /** @param delayMs - Infinity: a request is under way, and its answer brings a notification. */
  #checkAfter(delayMs: number): void {
    this.#cancelCheck = Number.isFinite(delayMs)
      ? this.#options.clock.after(delayMs, () => {
          this.#check();
        })
      : () => undefined;
  }

  #wait(nowMs: number, issuers: number): void {
    this.#release ??= this.#options.hold();
    this.#answered();
    if (this.#loggedAtMs !== undefined) return;
    this.#loggedAtMs = nowMs;
    this.#options.log.warn({ event: 'keys_awaited', issuers }, 'no token can be let in, because no issuer gives its keys: not ready');
  }

  #goOn(nowMs: number): void {
    this.#release?.();
    this.#release = undefined;
    this.#answered();
    if (this.#loggedAtMs === undefined) return;
    this.#options.log.info({ event: 'keys_there', waitedMs: Math.round(nowMs - this.#loggedAtMs) }, 'tokens can be let in: keys are there');
    this.#loggedAtMs = undefined;
  }
}
