// Tokens that a server must reject, made from a good one with or without a signer, and the removal of tokens from texts.
// No token is ever shown.
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { ForgeOrder, Issuer } from '../platform/issuer.ts';

/** The token to sign: changes to an honest token of the organization; null removes a member. */
export type SignOrder = Partial<ForgeOrder>;

/** Signs any token: a fake platform, or its issuer. */
export interface TokenSigner {
  /** @throws AppError when the platform cannot be asked. */
  sign(order: SignOrder): Promise<string>;
  /** Makes a new key; the old ones stay published (J-2A). */
  rotate(): Promise<void>;
  /** Number of fetches of the keys so far. */
  keyRequests(): Promise<number>;
}

/** The signer whose issuer runs in this process. */
export function issuerSigner(issuer: Issuer): TokenSigner {
  return {
    sign: async ({ claims, header = {}, by = 'first' }) => {
      const honest = readToken(await issuer.issueToken())?.claims ?? {};
      return issuer.forge({ claims: { ...honest, ...claims }, header, by });
    },
    rotate: () => issuer.rotateKey(),
    keyRequests: () => Promise.resolve(issuer.keySetAnswers()),
  };
}

/** A token in its parts: header and claims decoded, the signature as it is. */
export interface TokenParts {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly signature: string;
}

/** Reads a compact token without verifying it; undefined when the text is no token. */
export function readToken(token: string): TokenParts | undefined {
  const [header, claims, signature, ...more] = token.split('.');
  if (header === undefined || claims === undefined || signature === undefined || more.length > 0) return undefined;
  const [one, two] = [objectOf(header), objectOf(claims)];
  return one === undefined || two === undefined ? undefined : { header: one, claims: two, signature };
}

/** A compact token of these parts; the signature is not made anew. */
export function writeToken({ header, claims, signature }: TokenParts): string {
  return `${encoded(header)}.${encoded(claims)}.${signature}`;
}

export function encoded(value: JsonValue): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** `base` with these members changed; null removes a member. */
export function changed(base: JsonObject, changes: JsonObject = {}): JsonObject {
  return Object.fromEntries(Object.entries({ ...base, ...changes }).filter(([, value]) => value !== null));
}

function objectOf(part: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    // The cast is safe: parsed JSON that is an object and no array is a JsonObject.
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

export type Redactor = (text: string) => string;

/** Texts that look like a token or a part of one, whoever made it. */
const TOKEN_SHAPED = /eyJ[\w-]{8,}(?:\.[\w-]*)*|[\w-]{64,}/gu;
/** Shorter parts of a token would match ordinary words. */
const MIN_SECRET_CHARS = 8;
const MARK = '[redacted]';

/** Removes these tokens from texts, with or without a scheme: whole, in parts, and their nonces. Also all that looks like a token. */
export function redactor(...authorizations: readonly (string | undefined)[]): Redactor {
  const secrets = [...new Set(authorizations.flatMap(secretsOf))].sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, MARK), text).replaceAll(TOKEN_SHAPED, MARK);
}

function secretsOf(authorization = ''): readonly string[] {
  const token = authorization.replace(/^\S+ /u, '');
  const nonce = readToken(token)?.claims['jti'];
  const found = [token, ...token.split('.'), ...(typeof nonce === 'string' ? [nonce] : [])];
  return found.filter(({ length }) => length >= MIN_SECRET_CHARS);
}
