// Watches whether any token can be verified. While no key is usable, it calls `hold` and keeps requesting keys. Does not know what `hold`
// blocks.
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { KeySource } from './key-source.ts';

/** The options of a watch. */
export interface KeyWatchOptions {
  readonly keys: Pick<KeySource, 'needed' | 'onChange'>;
  /** Called when no token can be verified; the returned function is called when tokens can be verified again. */
  readonly hold: () => () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Holds until the first of the needed issuers has given keys, and again when the last usable keys have expired and all of these issuers
 * fail. Keys of one issuer are enough: an unreachable issuer must not keep away the callers of the others.
 *
 * Runs on notifications and one timer, and respects the issuers' pauses (J-14, J-25).
 */
export class KeyWatch {
  readonly #options: KeyWatchOptions;
  #release: (() => void) | undefined;
  /** When the log last said that no key is usable, monotonic ms; undefined while a key is usable. */
  #loggedAtMs: number | undefined;
  #cancelCheck: CancelTimer = () => undefined;
  #isClosed = false;
  #answered: () => void = () => undefined;

  constructor(options: KeyWatchOptions) {
    this.#options = options;
  }

  /** Starts the watch. @returns a promise that resolves when the first keys are there or every issuer has failed once; never rejects. */
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

  /** Stops the watch. A hold stays, because the server takes no calls any more. */
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
    // Request before reporting: keys may have expired only because no call needed new ones.
    if (needed.every((issuer) => issuer.isFailing)) this.#wait(nowMs, needed.length);
    for (const issuer of needed) if (issuer.asksFromMs <= nowMs) issuer.ask();
    this.#checkAfter(Math.min(...needed.map((issuer) => issuer.asksFromMs)) - nowMs);
  }

  /** @param delayMs - Infinity: no check, because a request is in flight and its response brings a notification. */
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
