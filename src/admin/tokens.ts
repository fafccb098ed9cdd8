// Tokens and credentials of the administration: their stored form, how a token reply is read, and when a token counts as expired.
// Everything here is secret except times and ids.
import { z } from 'zod';
import { parseJson } from '../base/json.ts';
import { demand } from './records.ts';
import type { SecretStore } from './secret-store.ts';

const tokenText = z.string().min(1).max(16_384);

/** The stored form of a pair of tokens, as JSON. */
export const oauthTokens = z.object({
  accessToken: tokenText,
  /** Expiry of the access token, ms since the epoch. */
  expiresAtMs: z.number(),
  /** Undefined when the platform gave none: then the access token cannot be refreshed. */
  refreshToken: tokenText.optional(),
  /** Expiry of the refresh token, ms since the epoch; undefined when the platform did not say. */
  refreshExpiresAtMs: z.number().optional(),
  /** When to use the refresh token so that it does not expire unused, ms since the epoch. */
  refreshDueMs: z.number().optional(),
  // As the platform sent it, like `expiresInSeconds`. Absent when an older version stored the tokens.
  tokenType: z.string().optional(),
  expiresInSeconds: z.number().optional(),
  /** When the pair was requested, ms since the epoch. */
  obtainedAtMs: z.number().optional(),
  /** The granted scopes; undefined when the platform did not say. */
  scopes: z.array(z.string()).optional(),
});

export type OAuthTokens = Readonly<z.infer<typeof oauthTokens>>;

/** The stored form of the app's tokens in one organization, as JSON. */
export const serviceAppTokens = oauthTokens.extend({
  /** A plain UUID. */
  orgId: z.uuid(),
  /** The organization in the spelling that the platform accepted (U-14). */
  targetOrgId: z.string().min(1).max(512),
});

/** The app's tokens in one organization. */
export type ServiceAppTokens = Readonly<z.infer<typeof serviceAppTokens>>;

/** The granted scopes of the pair at `key`; undefined when none is stored or the platform did not say. */
export async function grantedScopes(store: Pick<SecretStore, 'get'>, key: string): Promise<readonly string[] | undefined> {
  return oauthTokens.safeParse(parseJson((await store.get(key)) ?? '')).data?.scopes;
}

/** The OAuth client of a login. */
export interface IntegrationCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The redirect address, exactly as registered with the platform: https, or http on loopback. */
  readonly redirectUri: string;
}

/** The OAuth client of the app that organizations authorize. */
export interface ServiceAppCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Whether the access token has expired or will expire within `bufferSeconds`. */
export function isExpired({ expiresAtMs }: Pick<OAuthTokens, 'expiresAtMs'>, nowMs: number, bufferSeconds: number): boolean {
  return expiresAtMs - bufferSeconds * 1000 <= nowMs;
}

/** Whether the refresh token must be used now, even while the access token is valid, because it would expire unused (5.1). */
export function isRefreshDue({ refreshDueMs }: Pick<OAuthTokens, 'refreshDueMs'>, nowMs: number): boolean {
  return refreshDueMs !== undefined && refreshDueMs <= nowMs;
}

/** A lifetime in seconds, at most a hundred years. */
const seconds = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,10}$/u)
      .transform(Number),
  ])
  .pipe(z.number().positive().max(3.2e9));

const reply = z.object({
  access_token: tokenText,
  expires_in: seconds,
  refresh_token: tokenText.optional(),
  refresh_token_expires_in: seconds.optional(),
  token_type: z.string().min(1).max(100).optional(),
  // Tokens do not depend on the scope, so an invalid one is ignored.
  scope: z.string().max(10_000).optional().catch(undefined),
});

/**
 * Reads a token reply (5.1). When it has no refresh token, the previous one stays valid; the first reply may have none.
 *
 * @param nowMs - when the request was sent: a slow reply must not extend a token's lifetime.
 * @throws AppError `platform_answer_invalid` for any other reply.
 */
export function readTokenReply(value: unknown, nowMs: number, before?: OAuthTokens): OAuthTokens {
  const read = demand(reply, value, 'a token reply');
  const scopes = read.scope?.split(' ').filter((scope) => scope !== '') ?? before?.scopes;
  const refreshToken = read.refresh_token ?? before?.refreshToken;
  // The expiry of a refresh token that does not exist is ignored.
  const refreshSeconds = refreshToken === undefined ? undefined : read.refresh_token_expires_in;
  const refreshExpiresAtMs =
    refreshSeconds !== undefined
      ? nowMs + refreshSeconds * 1000
      : read.refresh_token === undefined
        ? before?.refreshExpiresAtMs
        : undefined;
  return {
    accessToken: read.access_token,
    expiresAtMs: nowMs + read.expires_in * 1000,
    expiresInSeconds: read.expires_in,
    obtainedAtMs: nowMs,
    ...(read.token_type === undefined ? {} : { tokenType: read.token_type }),
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(refreshExpiresAtMs === undefined ? {} : { refreshExpiresAtMs, ...refreshDue(refreshExpiresAtMs, nowMs) }),
  };
}

/** The middle of the token's remaining lifetime. A past expiry must be wrong: the platform has just accepted the token. */
function refreshDue(refreshExpiresAtMs: number, nowMs: number): Pick<OAuthTokens, 'refreshDueMs'> {
  return refreshExpiresAtMs <= nowMs ? {} : { refreshDueMs: (nowMs + refreshExpiresAtMs) / 2 };
}
