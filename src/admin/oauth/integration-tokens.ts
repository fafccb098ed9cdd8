// The tokens of the integration: there after a login, refreshed in time, and gone when the platform no longer takes them.
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { KeptTokens, type KeepingParts, type KeptTokensOptions } from '../kept-tokens.ts';
import { oauthTokens, type OAuthTokens } from '../tokens.ts';
import type { TokenRequests } from './token-request.ts';

/** How long a refusal of the refresh token is believed before it is tried again, ms. */
const REFUSED_MS = 600_000;

/** Where the pair lies in the store. */
export const INTEGRATION_KEY = 'integration/tokens';

/**
 * Tokens of the integration. `current`, `refreshed` and `keepAlive` throw AppError `login_needed` when nobody has logged in, or the
 * refresh token is no longer taken; `keepAlive` also while the access token serves for a while yet. Whoever created it closes it.
 */
export class IntegrationTokens extends KeptTokens<OAuthTokens> {
  /** @param requests - for the integration. */
  constructor({ requests, ...keeping }: KeepingParts & { readonly requests: Pick<TokenRequests, 'refresh'> }) {
    super({
      ...keeping,
      ...{ key: INTEGRATION_KEY, shape: oauthTokens, missing: nobodyLoggedIn, obtain: refreshing(requests, keeping.clock) },
      gone: () => new AppError('login_needed', 'the integration has been logged out'),
    });
  }
}

/** The platform need not be asked by every request that wants a token. But a refusal may have been its mistake. */
function refreshing(requests: Pick<TokenRequests, 'refresh'>, clock: Clock): KeptTokensOptions<OAuthTokens>['obtain'] {
  /** `untilMs` is monotonic. */
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
