// The tokens of a single organization without a service app: either a pair that we refresh, or an access token that somebody else keeps
// valid.
import { createHash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import { KeptTokens, type KeepingParts } from './kept-tokens.ts';
import type { TokenRequests } from './oauth/token-request.ts';
import type { TokenSource } from './token-source.ts';
import { oauthTokens, type OAuthTokens } from './tokens.ts';

export interface OwnTokensOptions extends KeepingParts {
  readonly requests: Pick<TokenRequests, 'refresh'>;
  /** The first refresh token, from the operator. Later ones are in the store. */
  readonly refreshToken: string;
}

/**
 * The store key of the tokens that follow from an operator's refresh token. Another refresh token has another key, because it may belong to
 * another organization.
 */
export function ownTokensKey(refreshToken: string): string {
  const mark = createHash('sha256').update(refreshToken).digest('hex').slice(0, 16);
  return `own-organization/${mark}/tokens`;
}

/** Tokens that start with an operator's refresh token. Call `close`. */
export function ownTokens({ requests, refreshToken, ...keeping }: OwnTokensOptions): KeptTokens<OAuthTokens> {
  const first: OAuthTokens = { accessToken: 'none yet', expiresAtMs: 0, refreshToken };
  return new KeptTokens({
    ...keeping,
    ...{ key: ownTokensKey(refreshToken), shape: oauthTokens },
    obtain: (before, signal) => requests.refresh(before ?? first, signal),
    gone: () => new AppError('login_needed', 'the tokens of the organization have been erased'),
  });
}

/** The source of an operator's access token, which cannot be renewed. */
export function fixedToken(token: string): TokenSource {
  return {
    current: () => Promise.resolve(token),
    refreshed: () => Promise.reject(new AppError('authorization_needed', 'the access token of the settings is no longer taken')),
  };
}
