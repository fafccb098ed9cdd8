// Describes a token: its unverified claims, and whether the server would accept it. The result contains neither the token nor its nonce.
import { createHash } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { TokenVerifier } from '../../auth/jws-verifier.ts';
import type { Principal, TokenTransport } from '../../auth/principal.ts';
import { REFUSAL_HINTS, refusalReason, type RefusalReason } from '../../auth/refusal.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { shownText } from '../../base/shown-text.ts';

/** Number of hex digits of the nonce's digest to show: enough to compare nonces, too few to guess one. */
const DIGEST_CHARS = 8;

export interface InspectTokenOptions {
  /** A verifier like the server's. */
  readonly verifier: TokenVerifier;
  readonly profile: Pick<PlatformProfile, 'jws' | 'schemas'>;
  /** The transport that would carry the token. Default: the transport of the token's schema, else gRPC. */
  readonly transport?: TokenTransport | undefined;
}

/** The claims of a token; undefined members are absent. Texts are safe to print on a terminal. */
export type ShownClaims = ReturnType<typeof shownClaims>;

export interface TokenInspection {
  /** Undefined for an unreadable token. */
  readonly claims: ShownClaims | undefined;
  readonly transport: TokenTransport;
  readonly verdict:
    | { readonly isAccepted: true; readonly principal: Principal }
    | {
        readonly isAccepted: false;
        readonly reason: RefusalReason;
        /** The advice, as in docs/errors.md. */
        readonly mend: string;
      };
}

/**
 * Inspects a token.
 *
 * @param token - in compact form, with or without `Bearer ` in front; surrounding spaces are ignored.
 * @throws unexpected errors of the token check.
 */
export async function inspectToken(token: string, options: InspectTokenOptions): Promise<TokenInspection> {
  const compact = token.trim().replace(/^bearer +/iu, '');
  const { profile, verifier } = options;
  const read = decoded(compact);
  const isForWebsocket = read?.claims[profile.jws.claims.schema] === profile.schemas.websocket;
  const transport = options.transport ?? (isForWebsocket ? 'websocket' : 'grpc');
  const claims = read === undefined ? undefined : shownClaims(read, compact, profile);
  try {
    const principal = await verifier.verify(compact === '' ? '' : `Bearer ${compact}`, transport);
    return { claims, transport, verdict: { isAccepted: true, principal } };
  } catch (thrown) {
    const reason = refusalReason(thrown);
    if (reason === undefined) throw thrown;
    return { claims, transport, verdict: { isAccepted: false, reason, mend: REFUSAL_HINTS[reason] } };
  }
}

interface DecodedToken {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

function decoded(compact: string): DecodedToken | undefined {
  try {
    return { header: { ...decodeProtectedHeader(compact) }, claims: decodeJwt(compact) };
  } catch {
    // The token check reports the problem; the library's message could quote the token.
    return undefined;
  }
}

function shownClaims({ header, claims }: DecodedToken, compact: string, { jws }: InspectTokenOptions['profile']) {
  const nonce = typeof claims['jti'] === 'string' ? claims['jti'] : undefined;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? shownText(value, [nonce, compact]) : undefined);
  const audience: unknown = claims['aud'];
  return {
    algorithm: text(header['alg']),
    keyId: text(header['kid']),
    issuer: text(claims['iss']),
    audience: Array.isArray(audience) ? audience.map((each: unknown) => text(each) ?? '?').join(', ') : text(audience),
    subject: text(claims['sub']),
    url: text(claims[jws.claims.url]),
    schemaId: text(claims[jws.claims.schema]),
    organizationId: text(claims[jws.claims.org]),
    // Times in ISO form.
    issuedAt: isoTime(claims['iat']),
    notBefore: isoTime(claims['nbf']),
    expiresAt: isoTime(claims['exp']),
    // The first hex digits of the nonce's SHA-256.
    nonceDigest: nonce === undefined ? undefined : createHash('sha256').update(nonce).digest('hex').slice(0, DIGEST_CHARS),
  };
}

/** A NumericDate as ISO time; undefined when it is invalid or too large. */
function isoTime(value: unknown): string | undefined {
  return typeof value === 'number' && Math.abs(value) <= 8.64e12 ? new Date(value * 1000).toISOString() : undefined;
}
