// The claims of a token, read into our own words and checked against the clock. The names of the claims are the platform's business and
// come in as a parameter; data-sources decides whether their values are right.
import { z } from 'zod';
import { digestNonce, type NonceDigest } from './nonces.ts';
import { refuse, type RefusalReason } from './refusal.ts';

/** Names of the claims that only this platform has. */
export interface ClaimNames {
  readonly url: string;
  readonly schema: string;
  readonly organization: string;
}

/** When a token may be used. */
export interface TokenTimes {
  /** Ms since the epoch. */
  readonly expiresAtMs: number;
  /** Ms since the epoch; undefined when the token has no `nbf`. */
  readonly notBeforeMs: number | undefined;
}

/** The values that a token carries and that must equal those of a registered data source. */
export interface TokenBinding {
  readonly url: string;
  readonly schemaId: string;
  /** A list only when `audienceLists` allows one; otherwise one value. */
  readonly audiences: readonly string[];
  readonly subject: string;
  readonly organizationId: string;
  /** Only the digest: the nonce itself is dropped when the claims are read. */
  readonly nonceDigest: NonceDigest;
}

/** The claims of a token before anything is verified: any JSON object. */
export type RawClaims = Readonly<Record<string, unknown>>;

const TIMES = z.object({ exp: z.number(), nbf: z.number().optional() });

const BINDING = z.object({
  url: z.string(),
  schemaId: z.string(),
  audience: z.union([z.string(), z.array(z.string())]),
  subject: z.string(),
  organizationId: z.string(),
  nonce: z.string(),
});

// In the order in which data-sources compares, so that an absent claim is refused with the same reason as a wrong one.
const BINDING_REASONS = {
  url: 'url_mismatch',
  schemaId: 'schema_mismatch',
  audience: 'audience_mismatch',
  subject: 'subject_mismatch',
  organizationId: 'org_mismatch',
  nonce: 'nonce_mismatch',
} as const satisfies Record<keyof z.infer<typeof BINDING>, RefusalReason>;

/**
 * Reads the times of a token.
 *
 * @throws AppError of `refuse`: `expiry_missing` without `exp`, `claims_malformed` when a time is no finite number.
 */
export function readTimes(claims: RawClaims): TokenTimes {
  if (claims['exp'] === undefined) throw refuse('expiry_missing');
  const times = TIMES.safeParse(claims);
  if (!times.success) throw refuse('claims_malformed');
  const { exp, nbf } = times.data;
  return { expiresAtMs: exp * 1000, notBeforeMs: nbf === undefined ? undefined : nbf * 1000 };
}

/**
 * Checks the times against the clock (J-16, J-27).
 *
 * @param limits.skewMs - largest difference between our clock and the issuer's.
 * @param limits.maxLifetimeMs - longest lifetime the platform allows (J-01).
 * @throws AppError of `refuse`: `expired`, `not_yet_valid` or `lifetime_too_long`.
 */
export function checkTimes(times: TokenTimes, nowMs: number, limits: { skewMs: number; maxLifetimeMs: number }): void {
  // Formulated as "is it good", so that a time or limit that is not a number leads to a refusal.
  const isAlive = nowMs < times.expiresAtMs + limits.skewMs;
  if (!isAlive) throw refuse('expired');
  const hasBegun = times.notBeforeMs === undefined || times.notBeforeMs <= nowMs + limits.skewMs;
  if (!hasBegun) throw refuse('not_yet_valid');
  const isShort = times.expiresAtMs - nowMs <= limits.maxLifetimeMs + limits.skewMs;
  if (!isShort) throw refuse('lifetime_too_long');
}

/**
 * Reads the values that the token is bound to.
 *
 * @param options.audienceLists - whether a list of audiences is accepted (J-28).
 * @throws AppError of `refuse` with the mismatch reason of the first claim that is absent or of the wrong type.
 */
export function readBinding(claims: RawClaims, names: ClaimNames, options: { audienceLists: boolean }): TokenBinding {
  const parsed = BINDING.safeParse({
    url: claims[names.url],
    schemaId: claims[names.schema],
    audience: claims['aud'],
    subject: claims['sub'],
    organizationId: claims[names.organization],
    nonce: claims['jti'],
  });
  if (!parsed.success) {
    const failed = new Set(parsed.error.issues.map((issue) => issue.path[0]));
    const first = Object.entries(BINDING_REASONS).find(([claim]) => failed.has(claim));
    throw refuse(first?.[1] ?? 'claims_malformed');
  }
  const { url, schemaId, audience, subject, organizationId, nonce } = parsed.data;
  if (typeof audience !== 'string' && !options.audienceLists) throw refuse('audience_mismatch');
  const audiences = typeof audience === 'string' ? [audience] : audience;
  return { url, schemaId, audiences, subject, organizationId, nonceDigest: digestNonce(nonce) };
}
