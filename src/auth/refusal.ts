// The closed list of reasons for refusing a token, each with advice for the operator. Reasons go to logs and metrics; the caller gets the
// same text for all of them, so that a forger learns nothing.
import { AppError } from '../base/errors.ts';

/**
 * Every reason with its hint, in the order of the checks. Reasons are public (metric labels, documentation) and never get another meaning.
 */
export const REFUSAL_HINTS = {
  token_missing: 'The client sent no token; only the platform should reach this address.',
  token_too_large: 'The token is longer than any of the platform; look for a proxy that adds to the header, or a probe.',
  scheme_refused: 'The authorization header uses another scheme than Bearer, or lacks it on WebSocket where it is required.',
  token_malformed: 'The token is no compact JWS of three base64url parts with JSON inside; the sender is not the platform.',
  algorithm_refused: 'The token names another algorithm than RS256; treat it as a forgery.',
  critical_header: 'The token demands an unknown extension; treat it as a forgery unless the platform announced it.',
  access_token: 'An ordinary access token was sent in place of a data-source token; check what the client presents.',
  issuer_mismatch: 'The profile does not list the issuer; if it is a genuine region, add it to platform.extra_issuers.',
  key_not_found: 'The issuer publishes no key with the key id of the token; if it persists, compare with its key set.',
  keys_unavailable: 'The key set of the issuer cannot be fetched; check outbound HTTPS to the issuer.',
  verifier_busy: 'Too many tokens wait for keys at once; the issuer is slow or somebody floods this address.',
  signature_invalid: 'The signature is not by the key the token names; treat it as a forgery.',
  expiry_missing: 'The token has no expiry; treat it as a forgery.',
  claims_malformed: 'A time in the token is no number; treat it as a forgery.',
  expired: 'The token is past its expiry; renew the data source, and check the clock of this machine.',
  not_yet_valid: 'The token is not valid yet; check the clock of this machine.',
  lifetime_too_long: 'The token lives longer than the platform allows; check the clock of this machine.',
  url_mismatch: 'No data source here has the url of the token; compare it character for character.',
  schema_mismatch: 'The token is for another schema or the other transport; check schema_id and transport of the data source.',
  audience_mismatch: 'The audience differs from the registered one; copy it from the data source.',
  subject_mismatch: 'The subject differs from the registered one; copy it from the data source.',
  org_mismatch: 'The organization of the token is not onboarded here; add a data source for it.',
  nonce_mismatch: 'The nonce is neither the current one nor in its grace time; copy the nonce from the data source.',
  verifier_failed: 'A defect in the token check, which then refuses. Please report the log line.',
} as const;

/** Why a token was refused. */
export type RefusalReason = keyof typeof REFUSAL_HINTS;

/** Reasons for refusing a genuine token whose data source is unknown, or differs from what the token says. */
const UNKNOWN_SOURCE: ReadonlySet<RefusalReason> = new Set<RefusalReason>([
  'url_mismatch',
  'schema_mismatch',
  'audience_mismatch',
  'subject_mismatch',
  'org_mismatch',
  'nonce_mismatch',
]);

/** All reasons, in the order of the checks. */
// Object.keys of a literal has exactly its keys.
export const REFUSAL_REASONS = Object.keys(REFUSAL_HINTS) as readonly RefusalReason[];

/**
 * The error of a refused token: code `unauthenticated`, the reason in its details, nothing of the token. Deliberately without a cause:
 * errors of parsers quote what they parsed (P-14).
 */
export function refuse(reason: RefusalReason): AppError {
  return new AppError('unauthenticated', 'the token was refused', { details: { reason } });
}

/** The reason of a refusal; undefined for any other error. */
export function refusalReason(error: unknown): RefusalReason | undefined {
  if (!(error instanceof AppError) || error.code !== 'unauthenticated') return undefined;
  const reason = error.details['reason'];
  return REFUSAL_REASONS.find((known) => known === reason);
}

/** Whether a process that knows more data sources and nonces might accept the token. */
export function isOfUnknownSource(error: unknown): boolean {
  const reason = refusalReason(error);
  return reason !== undefined && UNKNOWN_SOURCE.has(reason);
}
