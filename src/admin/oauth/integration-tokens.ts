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
  /** How long before its end the access token is refreshed, seconds. */
  readonly bufferSeconds: number;
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
  readonly #kept: KeptTokens<OAuthTokens>;
  /** `untilMs` is monotonic. */
  #refusal: { readonly refreshToken: string | undefined; readonly error: AppError; readonly untilMs: number } | undefined;

  constructor(options: IntegrationTokensOptions) {
    this.#options = options;
    this.#kept = new KeptTokens({
      ...options,
      ...{ key: INTEGRATION_KEY, shape: oauthTokens },
      gone: () => new AppError('login_needed', 'the integration has been logged out'),
      missing: nobodyLoggedIn,
      obtain: (before, signal) => this.#refresh(before, signal),
    });
  }

  current(signal: AbortSignal): Promise<string> {
    return this.#kept.current(signal);
  }

  refreshed(stale: string, signal: AbortSignal): Promise<string> {
    return this.#kept.refreshed(stale, signal);
  }

  /**
   * Refreshes the pair when one of its tokens is about to end: nobody but a person could get another one. Throws `login_needed`
   * also while the access token serves for a while yet.
   */
  async keepAlive(signal: AbortSignal): Promise<void> {
    await this.#kept.keepAlive(signal);
  }

  /** Keeps what a login gave. @throws AppError of the store. */
  async save(tokens: OAuthTokens): Promise<void> {
    await this.#kept.save(tokens);
  }

  /** Resolves when a refresh under way is over and kept. */
  async close(): Promise<void> {
    await this.#kept.close();
  }

  async #refresh(before: OAuthTokens | undefined, signal: AbortSignal): Promise<OAuthTokens> {
    if (before === undefined) throw nobodyLoggedIn();
    const { refreshToken } = before;
    const { clock } = this.#options;
    // The platform need not be asked by every request that wants a token. But a refusal may have been its mistake.
    const refused = this.#refusal;
    if (refused !== undefined && refused.refreshToken === refreshToken && clock.monotonicMs() < refused.untilMs) throw refused.error;
    try {
      return await this.#options.requests.refresh(before, signal);
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'login_needed') {
        this.#refusal = { refreshToken, error: thrown, untilMs: clock.monotonicMs() + REFUSED_MS };
      }
      throw thrown;
    }
  }
}

function nobodyLoggedIn(): AppError {
  return new AppError('login_needed', 'nobody has logged in with the integration yet');
}
