// Which token is good, said once more and otherwise than in src/auth: the rules J-10 to J-2F in the order of the contract, by Node's
// own cryptography. Shares no code with what it judges.
import { verify, type KeyObject } from 'node:crypto';

/** One issuer with one key and one data source. */
export interface Policy {
  readonly publicKey: KeyObject;
  readonly kid: string;
  /** Those of a good token. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Whether `Bearer` must stand before it. */
  readonly needsScheme: boolean;
}

const SKEW_S = 30;
const DAY_S = 86_400;
/** Claims that are what the good token has, and nothing else. */
const TIMES = new Set(['exp', 'iat', 'nbf']);

/** Undefined where the answer may change while it is given: at the very edge of a time. */
export function isGood(value: string, { publicKey, kid, claims: right, needsScheme }: Policy): boolean | undefined {
  const scheme = /^[Bb][Ee][Aa][Rr][Ee][Rr] +/.exec(value)?.[0] ?? '';
  const token = value.slice(scheme.length);
  if ((needsScheme && scheme === '') || token.length > 8192 || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return false;
  const parts = token.split('.');
  const decoded = parts.map((part) => Buffer.from(part, 'base64url'));
  if (decoded.some((bytes, index) => bytes.toString('base64url') !== parts[index])) return false;
  const [header, claims] = decoded.map(objectIn);
  const signature = decoded[2];
  if (header === undefined || claims === undefined || signature === undefined) return false;
  if (header['alg'] !== 'RS256' || header['kid'] !== kid || 'crit' in header) return false;
  if (/^(application\/)?at\+jwt$/i.test(String(header['typ'])) || String(claims['token_type']).toLowerCase() === 'bearer') return false;
  if (!verify('RSA-SHA256', Buffer.from(`${parts[0] ?? ''}.${parts[1] ?? ''}`), publicKey, signature)) return false;
  for (const [name, expected] of Object.entries(right)) if (!TIMES.has(name) && claims[name] !== expected) return false;
  const { exp, nbf = 0 } = claims;
  if (typeof exp !== 'number' || typeof nbf !== 'number') return false;
  const nowS = Date.now() / 1000;
  if ([exp + SKEW_S, nbf - SKEW_S, exp - DAY_S - SKEW_S].some((edge) => Math.abs(edge - nowS) < 5)) return undefined;
  return nowS < exp + SKEW_S && nbf - SKEW_S <= nowS && exp - nowS <= DAY_S + SKEW_S;
}

function objectIn(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
