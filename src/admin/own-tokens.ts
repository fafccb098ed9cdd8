// The tokens of a single organization that needs no service app: a pair of its own that is refreshed, or a token that
// somebody else keeps alive.
import { createHash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import { KeptTokens, type KeepingParts } from './kept-tokens.ts';
import type { TokenRequests } from './oauth/token-request.ts';
import type { TokenSource } from './token-source.ts';
import { oauthTokens, type OAuthTokens } from './tokens.ts';

export interface OwnTokensOptions extends KeepingParts {
  readonly requests: Pick<TokenRequests, 'refresh'>;
  /** Of the operator: the first one. Those that come after it are kept in the store. */
  readonly refreshToken: string;
}

/**
 * Where the tokens are kept that come after a refresh token of the operator. Another one begins anew: what was kept may be of
 * another organization.
 */
export function ownTokensKey(refreshToken: string): string {
  const mark = createHash('sha256').update(refreshToken).digest('hex').slice(0, 16);
  return `own-organization/${mark}/tokens`;
}

/** Tokens that begin with a refresh token of the operator. Whoever created them closes them. */
export function ownTokens({ requests, refreshToken, ...keeping }: OwnTokensOptions): KeptTokens<OAuthTokens> {
  const first: OAuthTokens = { accessToken: 'none yet', expiresAtMs: 0, refreshToken };
  return new KeptTokens({
    ...keeping,
    ...{ key: ownTokensKey(refreshToken), shape: oauthTokens },
    obtain: (before, signal) => requests.refresh(before ?? first, signal),
    gone: () => new AppError('login_needed', 'the tokens of the organization have been erased'),
  });
}

/** A token as the operator gave it: nothing can be done about its end. */
export function fixedToken(token: string): TokenSource {
  return {
    current: () => Promise.resolve(token),
    refreshed: () => Promise.reject(new AppError('authorization_needed', 'the access token of the settings is no longer taken')),
  };
}
