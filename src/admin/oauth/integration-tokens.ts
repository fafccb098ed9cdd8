// The integration's tokens: obtained by a login, refreshed in time, and unusable when the platform refuses the refresh token.
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { KeptTokens, type KeepingParts, type KeptTokensOptions } from '../kept-tokens.ts';
import { oauthTokens, type OAuthTokens } from '../tokens.ts';
import type { TokenRequests } from './token-request.ts';

/** How long a refusal of the refresh token is repeated before another attempt, ms. */
const REFUSED_MS = 600_000;

/** The key of the pair in the store. */
export const INTEGRATION_KEY = 'integration/tokens';

/**
 * Tokens of the integration. `current`, `refreshed` and `keepAlive` throw AppError `login_needed` when nobody has logged in, or the refresh
 * token is refused; `keepAlive` does so even while the access token is valid. Call `close`.
 */
export class IntegrationTokens extends KeptTokens<OAuthTokens> {
  /** @param requests - requests with the client of the integration. */
  constructor({ requests, ...keeping }: KeepingParts & { readonly requests: Pick<TokenRequests, 'refresh'> }) {
    super({
      ...keeping,
      ...{ key: INTEGRATION_KEY, shape: oauthTokens, missing: nobodyLoggedIn, obtain: refreshing(requests, keeping.clock) },
      gone: () => new AppError('login_needed', 'the integration has been logged out'),
    });
  }
}

/** Repeats a refusal for a while instead of asking for each caller. Then asks again, because the refusal may have been a mistake. */
function refreshing(requests: Pick<TokenRequests, 'refresh'>, clock: Clock): KeptTokensOptions<OAuthTokens>['obtain'] {
  /** `untilMs` is monotonic ms. */
  let refusal: { readonly refreshToken: string | undefined; readonly error: AppError; readonly untilMs: number } | undefined;
  return async (before, signal) => {
    if (before === undefined) throw nobodyLoggedIn();
    const { refreshToken } = before;
    if (refusal?.refreshToken === refreshToken && refusal !== undefined && clock.monotonicMs() < refusal.untilMs) throw refusal.error;
    try {
      return await requests.refresh(before, signal);
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'login_needed') {
        refusal = { refreshToken, error: thrown, untilMs: clock.monotonicMs() + REFUSED_MS };
      }
      throw thrown;
    }
  };
}

function nobodyLoggedIn(): AppError {
  return new AppError('login_needed', 'nobody has logged in with the integration yet');
}
