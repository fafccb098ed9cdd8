// The keys of one issuer over time: when they are fetched, how long they count as fresh, and how long they remain usable when no newer
// keys can be fetched. At most one request is in flight, and a pause follows each request.
import { linkAbort, waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { requestKeySet, type Fetch } from './key-set-request.ts';
import { KeySet, type IssuerKey } from './key-set.ts';
import { refuse } from './refusal.ts';

/** Bounds and times of key sets. */
export interface KeySetLimits {
  /** Longest wait for a response, in ms. */
  readonly timeoutMs: number;
  /** Largest response, in bytes. */
  readonly maxBytes: number;
  /** Most keys in a set. */
  readonly maxKeys: number;
  /** Pause after a request, in ms. */
  readonly cooldownMs: number;
  /** How long keys remain usable after their fresh time when no newer keys can be fetched, in ms. */
  readonly staleMs: number;
}

/** The options of `IssuerKeys`. */
export interface IssuerKeysOptions {
  readonly issuer: string;
  readonly url: string;
  readonly limits: KeySetLimits;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts a request in flight and prevents further ones. */
  readonly closed: AbortSignal;
  /** Called after each request, successful or not. */
  readonly onAnswer: () => void;
}

const MINUTE_MS = 60_000;
/** Fresh time when the issuer gives none, and the bounds of the time that the issuer may give (contract: 60 minutes). */
const FRESH_MS = 60 * MINUTE_MS;
const MIN_FRESH_MS = MINUTE_MS;
const MAX_FRESH_MS = 24 * 60 * MINUTE_MS;
/** After this fraction of the fresh time the next token triggers a request, so that no token waits for new keys. */
const RENEWED_AFTER = 0.8;
/** First pause after a failure while there are no keys at all; doubled with each further failure up to the cool-down. */
const FIRST_RETRY_MS = 1000;
const TOO_MANY_REQUESTS = 429;

interface HeldSet {
  readonly keys: KeySet;
  readonly renewedFromMs: number;
  readonly freshUntilMs: number;
  readonly usableUntilMs: number;
}

/** The keys of one issuer. Times are monotonic, so that a correction of the wall clock neither ages nor renews keys. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #held: HeldSet | undefined;
  #inFlight: Promise<void> | undefined;
  #nextRequestAtMs = 0;
  #failures = 0;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#nextRequestAtMs = options.clock.monotonicMs();
  }

  /**
   * Finds the key with this id. Requests the keys when the held ones are no longer fresh or lack the id, at most once for each call and
   * never within the pause after a request (J-14, J-25). Waits for the response only when the held keys cannot be used.
   *
   * @throws AppError of `refuse`: `key_not_found`, or `keys_unavailable` when the last request failed.
   */
  async find(keyId: string): Promise<IssuerKey> {
    if (this.#heldFor(keyId) === undefined) await this.#refresh();
    const held = this.#usable();
    if (held === undefined) throw refuse('keys_unavailable');
    const key = await held.keys.find(keyId);
    if (key !== undefined) return key;
    // After a failed request it is unknown whether the key exists.
    throw refuse(this.#failures > 0 ? 'keys_unavailable' : 'key_not_found');
  }

  /** When the held keys stop being usable, monotonic ms. -Infinity when no keys have been fetched yet. */
  get servesUntilMs(): number {
    return this.#held?.usableUntilMs ?? -Infinity;
  }

  /** When the issuer may be asked again, monotonic ms. Infinity during a request and after closing. */
  get asksFromMs(): number {
    return this.#inFlight === undefined && !this.#options.closed.aborted ? this.#nextRequestAtMs : Infinity;
  }

  /** Whether the last request failed. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** Requests the keys, unless a pause forbids it. Never waits. */
  ask(): void {
    void this.#refresh();
  }

  /**
   * Whether `find` would return this very key without waiting. When false, the token needs a full check: the key was withdrawn or replaced,
   * or the issuer must be asked first. Requests new keys when due, as `find` does, so that they do not expire unnoticed.
   */
  holds(keyId: string, fingerprint: string): boolean {
    return this.#heldFor(keyId)?.fingerprint(keyId) === fingerprint;
  }

  /** The held keys, if they contain this id. Requests new keys in the background when due. */
  #heldFor(keyId: string): KeySet | undefined {
    const held = this.#usable();
    if (held?.keys.fingerprint(keyId) === undefined) return undefined;
    const nowMs = this.#options.clock.monotonicMs();
    // After a failed request stale keys are used: another request would only make callers wait.
    if (nowMs >= held.freshUntilMs && this.#failures === 0) return undefined;
    if (nowMs >= held.renewedFromMs) void this.#refresh();
    return held.keys;
  }

  #usable(): HeldSet | undefined {
    return this.#held !== undefined && this.#options.clock.monotonicMs() < this.#held.usableUntilMs ? this.#held : undefined;
  }

  /** Never rejects: whether a failure matters depends on the held keys. */
  async #refresh(): Promise<void> {
    if (this.#inFlight === undefined) {
      const { clock, closed } = this.#options;
      if (closed.aborted || clock.monotonicMs() < this.#nextRequestAtMs) return;
      this.#inFlight = this.#request().finally(() => {
        this.#inFlight = undefined;
        this.#options.onAnswer();
      });
    }
    await this.#inFlight;
  }

  async #request(): Promise<void> {
    const { clock, limits, log, issuer } = this.#options;
    try {
      const { keys, maxAgeMs } = await this.#ask();
      const nowMs = clock.monotonicMs();
      const freshMs = Math.min(MAX_FRESH_MS, Math.max(MIN_FRESH_MS, maxAgeMs ?? FRESH_MS));
      const freshUntilMs = nowMs + freshMs;
      this.#held = { keys, renewedFromMs: nowMs + freshMs * RENEWED_AFTER, freshUntilMs, usableUntilMs: freshUntilMs + limits.staleMs };
      this.#failures = 0;
      this.#nextRequestAtMs = nowMs + limits.cooldownMs;
      log.info({ issuer, keys: keys.size, ignored: keys.ignored, freshMs }, 'key set fetched');
    } catch (thrown) {
      const error = toAppError(thrown, 'keys_unavailable', 'the key set could not be read');
      this.#failures += 1;
      this.#nextRequestAtMs = clock.monotonicMs() + this.#pauseMs(error);
      const stale = this.#usable() !== undefined;
      const failure = { ...error.details, failure: error.message, cause: causeOf(error) };
      log.warn({ issuer, ...failure, failures: this.#failures, stale }, 'key set could not be fetched');
    }
  }

  async #ask(): Promise<{ keys: KeySet; maxAgeMs: number | undefined }> {
    const { url, fetch, clock, limits, closed } = this.#options;
    const abort = linkAbort(closed);
    try {
      const request = requestKeySet(url, { fetch, maxBytes: limits.maxBytes, signal: abort.signal });
      // A separate limit, in case the request ignores its signal.
      const waited = await waitAtMost(request, limits.timeoutMs, clock, closed);
      if (waited.kind === 'aborted') throw new AppError('keys_unavailable', 'the key source was closed');
      if (waited.kind === 'timeout') {
        throw new AppError('keys_unavailable', 'the issuer took too long', { details: { limitMs: limits.timeoutMs } });
      }
      const keys = new KeySet(waited.value.body, limits.maxKeys);
      // An issuer does not withdraw all of its keys at once: an empty set is a mistake, and must not make every call fail.
      if (keys.size === 0)
        throw new AppError('keys_unavailable', 'the issuer publishes no usable key', { details: { ignored: keys.ignored } });
      return { keys, maxAgeMs: waited.value.maxAgeMs };
    } finally {
      // Ends what a failed request has left running; no effect on a finished request.
      abort.abort('deadline');
      abort.dispose();
    }
  }

  /** Without usable keys every call is refused, so the first retries come sooner, unless the issuer answered 429. */
  #pauseMs(error: AppError): number {
    const { cooldownMs } = this.#options.limits;
    if (this.#usable() !== undefined || error.details['status'] === TOO_MANY_REQUESTS) return cooldownMs;
    return Math.min(cooldownMs, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
  }
}

/** The system's code for a failure, such as ECONNREFUSED, from the chain of causes. */
function causeOf(error: AppError): string | undefined {
  let cause = error.cause;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth++) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    cause = cause.cause;
  }
  return undefined;
}
