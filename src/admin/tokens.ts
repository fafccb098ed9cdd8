// Tokens and credentials of the administration: what is kept of them, how a token reply is read, and when a token counts
// as over. Everything in here is secret except times and ids.
import { z } from 'zod';
import { parseJson } from '../base/json.ts';
import { demand } from './records.ts';
import type { SecretStore } from './secret-store.ts';

const tokenText = z.string().min(1).max(16_384);

/** How the tokens of the integration are kept, as JSON. */
export const oauthTokens = z.object({
  accessToken: tokenText,
  /** End of the access token, ms since the epoch. */
  expiresAtMs: z.number(),
  /** Undefined where the platform gave none: another access token must then be asked for in another way. */
  refreshToken: tokenText.optional(),
  /** End of the refresh token, ms since the epoch; undefined when the platform did not say. */
  refreshExpiresAtMs: z.number().optional(),
  /** When the refresh token has to be used, so that it does not end before anybody does, ms since the epoch. */
  refreshDueMs: z.number().optional(),
  // As the platform said them. What an older version has kept lacks these.
  tokenType: z.string().optional(),
  expiresInSeconds: z.number().optional(),
  /** When the pair was asked for, ms since the epoch. */
  obtainedAtMs: z.number().optional(),
  /** What the platform has granted; undefined when it did not say. */
  scopes: z.array(z.string()).optional(),
});

export type OAuthTokens = Readonly<z.infer<typeof oauthTokens>>;

/** How the tokens of one organization are kept, as JSON. */
export const serviceAppTokens = oauthTokens.extend({
  /** UUID of the organization. */
  orgId: z.uuid(),
  /** The organization in the spelling that the platform took (U-14). */
  targetOrgId: z.string().min(1).max(512),
});

/** The tokens that an app has in one organization. */
export type ServiceAppTokens = Readonly<z.infer<typeof serviceAppTokens>>;

/** Scopes that the platform has granted to the pair at `key`; undefined when none is kept or the platform did not say. */
export async function grantedScopes(store: Pick<SecretStore, 'get'>, key: string): Promise<readonly string[] | undefined> {
  return oauthTokens.safeParse(parseJson((await store.get(key)) ?? '')).data?.scopes;
}

/** Who we are when somebody logs in. */
export interface IntegrationCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the browser comes back to: https, or http on loopback; exactly as registered with the platform. */
  readonly redirectUri: string;
}

/** Who the app is that organizations authorize. */
export interface ServiceAppCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** True when the access token is over, or will be within `bufferSeconds`. */
export function isExpired({ expiresAtMs }: Pick<OAuthTokens, 'expiresAtMs'>, nowMs: number, bufferSeconds: number): boolean {
  return expiresAtMs - bufferSeconds * 1000 <= nowMs;
}

/** True when the refresh token has to be used, also for an access token that serves for long yet: it would die unused (5.1). */
export function isRefreshDue({ refreshDueMs }: Pick<OAuthTokens, 'refreshDueMs'>, nowMs: number): boolean {
  return refreshDueMs !== undefined && refreshDueMs <= nowMs;
}

/** A lifetime in seconds; a hundred years are the most that is believed. */
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
  // Of no use to tokens: what is none is no reason to refuse them.
  scope: z.string().max(10_000).optional().catch(undefined),
});

/**
 * Reads a token reply (5.1). Without a refresh token in it, the one before stays in force; a first reply may have none.
 *
 * @param nowMs - when the request was sent: a slow answer must not make a token live longer.
 * @throws AppError `platform_answer_invalid` when it is none.
 */
export function readTokenReply(value: unknown, nowMs: number, before?: OAuthTokens): OAuthTokens {
  const read = demand(reply, value, 'a token reply');
  const scopes = read.scope?.split(' ').filter((scope) => scope !== '') ?? before?.scopes;
  const refreshToken = read.refresh_token ?? before?.refreshToken;
  // The end of a token that nobody has says nothing.
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

/** The middle of what is left of its life. An end that is over is wrong: the platform has just taken the token. */
function refreshDue(refreshExpiresAtMs: number, nowMs: number): Pick<OAuthTokens, 'refreshDueMs'> {
  return refreshExpiresAtMs <= nowMs ? {} : { refreshDueMs: (nowMs + refreshExpiresAtMs) / 2 };
}
