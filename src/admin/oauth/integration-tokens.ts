// The tokens of the integration: there after a login, refreshed in time, and gone when the platform no longer takes them.
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { KeptTokens, type KeptTokensOptions } from '../kept-tokens.ts';
import type { SecretStore } from '../secret-store.ts';
import type { TokenSource } from '../token-source.ts';
import { oauthTokens, type OAuthTokens } from '../tokens.ts';
import type { TokenRequests } from './token-request.ts';

/** What keeps them. */
export interface IntegrationTokensOptions {
  readonly store: SecretStore;
  /** For the integration. */
  readonly requests: Pick<TokenRequests, 'refresh'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long before its end the access token is refreshed, seconds; default 300. */
  readonly bufferSeconds?: number | undefined;
  /** As {@link KeptTokensOptions} has it. */
  readonly renewing?: KeptTokensOptions<OAuthTokens>['renewing'];
}

/** How long a refusal of the refresh token is believed before it is tried again, ms. */
const REFUSED_MS = 600_000;

/** Where the pair lies in the store. */
export const INTEGRATION_KEY = 'integration/tokens';

/**
 * Tokens of the integration. `current` and `refreshed` throw AppError `login_needed` when nobody has logged in, or the
 * refresh token is no longer taken. Whoever created it closes it.
 */
export class IntegrationTokens implements TokenSource {
  readonly #options: IntegrationTokensOptions;
  #kept: KeptTokens<OAuthTokens>;
  #refusal: { readonly refreshToken: string; readonly error: AppError; readonly untilMs: number } | undefined;

  constructor(options: IntegrationTokensOptions) {
    this.#options = options;
    this.#kept = this.#keep();
  }

  current(signal: AbortSignal): Promise<string> {
    return this.#kept.current(signal);
  }

  refreshed(stale: string, signal: AbortSignal): Promise<string> {
    return this.#kept.refreshed(stale, signal);
  }

  /** When the tokens end; undefined when nobody has logged in. Asks the platform for nothing. */
  async lifetimes(): Promise<Pick<OAuthTokens, 'expiresAtMs' | 'refreshExpiresAtMs'> | undefined> {
    const tokens = await this.#kept.peek();
    if (tokens === undefined) return undefined;
    const { expiresAtMs, refreshExpiresAtMs } = tokens;
    return { expiresAtMs, refreshExpiresAtMs };
  }

  /** Keeps what a login gave. @throws AppError of the store. */
  async save(tokens: OAuthTokens): Promise<void> {
    await this.#kept.save(tokens);
  }

  /** Erases them; a login may follow. */
  async forget(): Promise<void> {
    const leaving = this.#kept.forget();
    // What comes after waits for the end of it, whether good or bad.
    this.#kept = this.#keep(leaving.catch(() => undefined));
    await leaving;
  }

  /** Resolves when a refresh under way is over and kept. */
  async close(): Promise<void> {
    await this.#kept.close();
  }

  #keep(ready?: Promise<void>): KeptTokens<OAuthTokens> {
    const { store, clock, log, bufferSeconds, renewing } = this.#options;
    const gone = (): AppError => new AppError('login_needed', 'the integration has been logged out');
    const obtain = (before: OAuthTokens | undefined, signal: AbortSignal): Promise<OAuthTokens> => this.#refresh(before, signal);
    return new KeptTokens({
      ...{ store, clock, log, bufferSeconds, renewing, ready, gone, obtain },
      ...{ key: INTEGRATION_KEY, shape: oauthTokens },
    });
  }

  async #refresh(before: OAuthTokens | undefined, signal: AbortSignal): Promise<OAuthTokens> {
    if (before === undefined) throw new AppError('login_needed', 'nobody has logged in with the integration yet');
    const { refreshToken } = before;
    const { clock } = this.#options;
    // The platform need not be asked by every request that wants a token. But a refusal may have been its mistake.
    if (this.#refusal?.refreshToken === refreshToken && clock.nowMs() < this.#refusal.untilMs) throw this.#refusal.error;
    try {
      return await this.#options.requests.refresh(before, signal);
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'login_needed') {
        this.#refusal = { refreshToken, error: thrown, untilMs: clock.nowMs() + REFUSED_MS };
      }
      throw thrown;
    }
  }
}
