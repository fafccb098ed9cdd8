// One pair of tokens over time: stored, renewed before it expires, with one request for all callers, and kept between requests. Subclasses
// and owners know how to obtain a new pair.
import type { z } from 'zod';
import { linkAbort, waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, toAppError, type ErrorCode } from '../base/errors.ts';
import { parseJson } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { SecretStore } from './secret-store.ts';
import type { TokenSource } from './token-source.ts';
import { isExpired, isRefreshDue, type OAuthTokens } from './tokens.ts';

/** Limit for a renewal, ms: longer than its requests can take together. */
const MAX_WAIT_MS = 300_000;

/** Errors after which a valid token can still be used: they pass, or another process renews it. */
const CAN_WAIT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'platform_unavailable',
  'platform_answer_invalid',
  'store_failed',
  'shutting_down',
]);

/** Runs a renewal, or rejects with an AppError that says why no renewal is allowed now. */
export type Renewing = <T>(renewal: () => Promise<T>) => Promise<T>;

export interface KeepingParts {
  readonly store: SecretStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long before its expiry an access token is renewed, seconds. */
  readonly bufferSeconds: number;
  /** Runs every renewal. Default: all renewals are allowed. */
  readonly renewing?: Renewing | undefined;
}

export interface KeptTokensOptions<T extends OAuthTokens> extends KeepingParts {
  /** The key of the pair in the store. */
  readonly key: string;
  /** The schema of the stored pair. */
  readonly shape: z.ZodType<T>;
  /** Obtains a new pair from the platform. `before` is the previous pair; undefined without one. */
  readonly obtain: (before: T | undefined, signal: AbortSignal) => Promise<T>;
  /** The error for callers after {@link KeptTokens.forget}. */
  readonly gone: () => AppError;
  /** The error for callers when no pair is stored. Undefined: a first pair is requested then. */
  readonly missing?: (() => AppError) | undefined;
  /** The store is neither read nor written before this resolves. */
  readonly ready?: Promise<void> | undefined;
}

/** Tokens that are available when needed. Call `close` or `forget`. */
export class KeptTokens<T extends OAuthTokens> implements TokenSource {
  readonly #options: KeptTokensOptions<T>;
  readonly #ended = linkAbort();
  #held: T | undefined;
  /** Set while the current pair could not be stored. */
  #isUnsaved = false;
  #renewal: Promise<T> | undefined;
  #writing: Promise<AppError | undefined> = Promise.resolve(undefined);

  constructor(options: KeptTokensOptions<T>) {
    this.#options = options;
  }

  /** A token that is valid for a while. When no other can be obtained, returns one that is about to expire. */
  current(signal: AbortSignal): Promise<string> {
    return this.#whenGood((held) => this.#isFresh(held), signal);
  }

  /**
   * Renews the pair when its access token or its refresh token is due, for pairs whose refresh token must not expire unused. In contrast,
   * {@link KeptTokens.current} checks only the access token. Rejects as `current` does, even while the access token is valid.
   */
  async keepAlive(signal: AbortSignal): Promise<void> {
    await this.#whenGood((held) => this.#isFresh(held) && !isRefreshDue(held, this.#options.clock.nowMs()), signal);
  }

  async refreshed(stale: string, signal: AbortSignal): Promise<string> {
    const held = await this.peek();
    if (held !== undefined && held.accessToken !== stale && this.#isFresh(held)) return held.accessToken;
    return (await this.#renewed(stale, signal)).accessToken;
  }

  /** The pair in memory or in the store; undefined without one. Sends no request. */
  async peek(): Promise<T | undefined> {
    this.#demandHere();
    const stored = this.#held ?? (await this.#read());
    // A newer pair may have been obtained during the read.
    this.#held ??= stored;
    this.#demandHere();
    return this.#held;
  }

  /** Replaces the pair. @throws AppError of the store; the pair is then used, but is lost when the process ends. */
  async save(tokens: T): Promise<void> {
    this.#demandHere();
    this.#held = tokens;
    this.#isUnsaved = true;
    const failure = await this.#write();
    if (failure !== undefined) throw failure;
  }

  /** Erases the pair for good: aborts a running renewal and drops its result. */
  async forget(): Promise<void> {
    this.#ended.abort('superseded');
    await this.#renewal?.catch(() => undefined);
    await this.#writing;
    this.#held = undefined;
    await this.#options.ready;
    await this.#options.store.delete(this.#options.key);
  }

  /** Resolves when a running renewal has ended and its result is stored: an unsaved refresh token would be lost. */
  async close(): Promise<void> {
    await this.#renewal?.catch(() => undefined);
    await this.#writing;
  }

  /** The access token of the current pair if that is `good`, otherwise of a new pair. */
  async #whenGood(good: (held: T) => boolean, signal: AbortSignal): Promise<string> {
    const held = await this.peek();
    if (held !== undefined && good(held)) {
      // Tried again, because the store may have recovered.
      if (this.#isUnsaved) await this.#write();
      return held.accessToken;
    }
    try {
      return (await this.#renewed(undefined, signal)).accessToken;
    } catch (thrown) {
      const { clock, log, key } = this.#options;
      const canWait = thrown instanceof AppError && CAN_WAIT.has(thrown.code) && !signal.aborted;
      if (!canWait || held === undefined || isExpired(held, clock.nowMs(), 0)) throw thrown;
      const line = { err: thrown, key };
      // Warn only of failures of the platform: nobody can act when the process is stopping or must not renew.
      const isOurs = thrown.code === 'platform_unavailable' || thrown.code === 'platform_answer_invalid';
      log[isOurs ? 'warn' : 'debug'](line, 'a token cannot be renewed yet and is used as long as it lasts');
      return held.accessToken;
    }
  }

  #isFresh(tokens: T): boolean {
    return !isExpired(tokens, this.#options.clock.nowMs(), this.#options.bufferSeconds);
  }

  /** One renewal for all callers. It continues when a caller gives up, because its result must be stored. */
  async #renewed(stale: string | undefined, signal: AbortSignal): Promise<T> {
    this.#renewal ??= this.#renew(stale).finally(() => {
      this.#renewal = undefined;
    });
    const waited = await waitAtMost(this.#renewal, MAX_WAIT_MS, this.#options.clock, signal);
    if (waited.kind === 'value') return waited.value;
    throw new AppError('platform_unavailable', 'a token was not waited for', { details: { outcome: 'cancelled' } });
  }

  async #renew(stale: string | undefined): Promise<T> {
    const { obtain, missing, renewing = alwaysRenewing } = this.#options;
    const found = await this.#storedInstead(stale);
    if (found !== undefined) return found;
    // Checked first: without a pair, `renewing` might refuse with an error about a token that does not exist.
    if (this.#held === undefined && missing !== undefined) throw missing();
    return renewing(async () => {
      // The previous holder of the lease or lock may have renewed the pair.
      const renewed = await this.#storedInstead(stale);
      if (renewed !== undefined) return renewed;
      const fresh = await obtain(this.#held, this.#ended.signal);
      this.#demandHere();
      this.#held = fresh;
      this.#isUnsaved = true;
      await this.#write();
      return fresh;
    });
  }

  /** A pair that another process has renewed and stored; undefined when this process must renew. */
  async #storedInstead(stale: string | undefined): Promise<T | undefined> {
    const stored = this.#isUnsaved ? undefined : await this.#read();
    this.#demandHere();
    if (stored === undefined) return undefined;
    const isOther = stored.accessToken !== this.#held?.accessToken && stored.accessToken !== stale;
    this.#held = stored;
    return isOther && this.#isFresh(stored) ? stored : undefined;
  }

  async #read(): Promise<T | undefined> {
    const { store, key, shape, log, ready } = this.#options;
    await ready;
    const text = await store.get(key);
    if (text === undefined) return undefined;
    const parsed = shape.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    log.warn({ key }, 'kept tokens have an unknown form and are not used');
    return undefined;
  }

  /**
   * Stores the newest pair, one write after another. After an error the pair stays in memory, and is stored when it is used next.
   *
   * @returns the error, which has been logged.
   */
  async #write(): Promise<AppError | undefined> {
    this.#writing = this.#writing.then(async () => {
      const { store, key, log } = this.#options;
      const tokens = this.#held;
      if (!this.#isUnsaved || tokens === undefined || this.#ended.signal.aborted) return undefined;
      try {
        await store.set(key, JSON.stringify(tokens));
        if (this.#held === tokens) this.#isUnsaved = false;
        return undefined;
      } catch (thrown) {
        const failure = toAppError(thrown, 'store_failed', 'tokens could not be kept');
        log.error({ err: failure, key }, 'tokens could not be kept: a restart would lose them');
        return failure;
      }
    });
    return this.#writing;
  }

  #demandHere(): void {
    if (this.#ended.signal.aborted) throw this.#options.gone();
  }
}

/** Allows each renewal only after `confirm`: a deposed process must not use up a refresh token that the new leader needs (L-10). */
export function renewingAfter(confirm: () => Promise<void>): Renewing {
  return async (renewal) => {
    await confirm();
    return renewal();
  };
}

/** Allows every renewal, for tokens that no other process stores. */
export function alwaysRenewing<T>(renewal: () => Promise<T>): Promise<T> {
  return renewal();
}
