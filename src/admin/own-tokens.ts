// The tokens of a single organization that needs no service app: a pair of its own that is refreshed, or a token that
// somebody else keeps alive.
import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { KeptTokens, type KeptTokensOptions } from './kept-tokens.ts';
import type { TokenRequests } from './oauth/token-request.ts';
import type { SecretStore } from './secret-store.ts';
import type { TokenSource } from './token-source.ts';
import { oauthTokens, type OAuthTokens } from './tokens.ts';

/** What keeps a pair. */
export interface OwnTokensOptions {
  readonly store: SecretStore;
  readonly requests: Pick<TokenRequests, 'refresh'>;
  /** Of the operator: the first one. Those that come after it are kept in the store. */
  readonly refreshToken: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long before its end an access token is refreshed, seconds. */
  readonly bufferSeconds: number;
  /** As {@link KeptTokensOptions} has it. */
  readonly renewing?: KeptTokensOptions<OAuthTokens>['renewing'];
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
export function ownTokens({
  store,
  requests,
  refreshToken,
  clock,
  log,
  bufferSeconds,
  renewing,
}: OwnTokensOptions): KeptTokens<OAuthTokens> {
  const first: OAuthTokens = { accessToken: 'none yet', expiresAtMs: 0, refreshToken };
  return new KeptTokens({
    ...{ store, clock, log, bufferSeconds, renewing, shape: oauthTokens },
    key: ownTokensKey(refreshToken),
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
