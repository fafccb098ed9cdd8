// Whether any token can be let in at all: holds something while no key serves, and has the issuers asked by itself as long as
// that is so. While keys serve, it asks for nothing. What is held it does not know.
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { KeySource } from './key-source.ts';

/** What a watch is joined to. */
export interface KeyWatchOptions {
  readonly keys: Pick<KeySource, 'needed' | 'onChange'>;
  /** Called when no token can be let in; what it returns is called when one can again. */
  readonly hold: () => () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Holds from its start until one of the issuers that are needed has given keys, and again when the last keys that served have
 * ended and every one of them fails. One is enough: which of them the next caller's token is from is not known, and an issuer
 * that cannot be reached from here must not keep away the callers of the others.
 *
 * It runs by notifications and one timer, and asks within the issuers' own pauses (J-14, J-25).
 */
export class KeyWatch {
  readonly #options: KeyWatchOptions;
  #release: (() => void) | undefined;
  /** When the log got that no key serves, monotonic ms; undefined while one does. */
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

  /** Asks no more. What is held stays so: whoever closes this takes no calls any more. */
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
    // Not before they have been asked: on a quiet night keys end because nobody has needed new ones.
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
