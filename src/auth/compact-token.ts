// The outer form of a token: splits the header value into the decoded, still untrusted parts (J-10, J-11). Everything here runs before any
// key lookup and before any network request.
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import type { RawClaims } from './claims.ts';
import type { TokenTransport } from './principal.ts';
import { refuse } from './refusal.ts';

/** A token of the right form whose signature is not verified yet. */
export interface UnverifiedToken {
  /** The whole token in compact form: three base64url parts. */
  readonly compact: string;
  /** Key id; undefined when the header names none. */
  readonly keyId: string | undefined;
  readonly issuer: string | undefined;
  readonly claims: RawClaims;
}

const SCHEME = /^bearer(?: +|$)/iu;

const HEADER = z.looseObject({
  alg: z.unknown().optional(),
  // A key id of another type or size counts as absent: no key can have such an id.
  kid: z.string().min(1).max(256).optional().catch(undefined),
  typ: z.unknown().optional(),
});
const CLAIMS = z.record(z.string(), z.unknown());

/**
 * Takes the token out of the header value. On gRPC the scheme may be absent (G-03, U-02); on WebSocket it is required (W-06). The scheme is
 * compared without regard to case.
 *
 * @throws AppError of `refuse`: `token_missing`, `token_too_large` or `scheme_refused`.
 */
export function readHeaderValue(value: string | undefined, transport: TokenTransport, maxBytes: number): string {
  if (value === undefined || value === '') throw refuse('token_missing');
  // Checked first; 16 characters more than the token may have, for the scheme and its space.
  if (value.length > maxBytes + 16) throw refuse('token_too_large');
  const scheme = SCHEME.exec(value);
  if (scheme === null && (transport === 'websocket' || value.includes(' '))) throw refuse('scheme_refused');
  const token = value.slice(scheme?.[0].length ?? 0);
  if (token === '') throw refuse('token_missing');
  if (token.length > maxBytes) throw refuse('token_too_large');
  return token;
}

/**
 * Splits and decodes a token.
 *
 * @throws AppError of `refuse`: `token_malformed`, `algorithm_refused`, `critical_header` or `access_token`.
 */
export function parseToken(compact: string): UnverifiedToken {
  // At most four parts: a fourth one is enough to see that there are too many.
  const [headerPart, claimsPart, signaturePart, ...rest] = compact.split('.', 4);
  if (headerPart === undefined || claimsPart === undefined || signaturePart === undefined || rest.length > 0)
    throw refuse('token_malformed');
  const header = HEADER.safeParse(decodeJson(headerPart));
  if (!header.success) throw refuse('token_malformed');
  // J-22: exactly one algorithm is allowed; an absent algorithm is refused as well.
  if (header.data.alg !== 'RS256') throw refuse('algorithm_refused');
  if (Object.hasOwn(header.data, 'crit')) throw refuse('critical_header');
  const claims = CLAIMS.safeParse(decodeJson(claimsPart));
  if (!claims.success) throw refuse('token_malformed');
  decode(signaturePart);
  if (isAccessToken(header.data.typ, claims.data['token_type'])) throw refuse('access_token');
  const issuer = claims.data['iss'];
  return { compact, keyId: header.data.kid, issuer: typeof issuer === 'string' ? issuer : undefined, claims: claims.data };
}

/** J-2F: by the token type, or by the media type that newer access tokens have in their header. */
function isAccessToken(type: unknown, tokenType: unknown): boolean {
  if (typeof tokenType === 'string' && tokenType.toLowerCase() === 'bearer') return true;
  return typeof type === 'string' && /^(?:application\/)?at\+jwt$/iu.test(type);
}

function decodeJson(part: string): unknown {
  const bytes = decode(part);
  if (!isUtf8(bytes)) throw refuse('token_malformed');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // The parser's message quotes the token, so it is not passed on.
    throw refuse('token_malformed');
  }
}

/** Strict base64url: no padding, no foreign characters, and only one spelling of the same bytes. */
function decode(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url');
  // The decoder ignores padding, foreign characters and spare bits of the last character; encoding the bytes again shows them.
  if (part === '' || bytes.toString('base64url') !== part) throw refuse('token_malformed');
  return bytes;
}
