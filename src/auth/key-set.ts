// One published key set: selects the keys that may verify a token, and finds a key by its id. Knows neither network nor time.
import { createPublicKey } from 'node:crypto';
import { createLocalJWKSet, type CryptoKey } from 'jose';
import { z } from 'zod';
import { AppError } from '../base/errors.ts';

// The platform's keys have 2048 bits. A modulus above the upper bound would make every check slow.
const MIN_MODULUS_BITS = 2048;
const MAX_MODULUS_BITS = 8192;

const SET = z.object({ keys: z.array(z.unknown()) });

const RSA_KEY = z.looseObject({
  kty: z.literal('RSA'),
  kid: z.string().min(1).max(256),
  n: z.string(),
  e: z.string(),
  use: z.literal('sig').optional(),
  alg: z.literal('RS256').optional(),
  key_ops: z.array(z.string()).optional(),
});

interface UsableKey {
  readonly kty: 'RSA';
  readonly kid: string;
  readonly n: string;
  readonly e: string;
  readonly alg: 'RS256';
  readonly use: 'sig';
}

/** A key with its fingerprint, which distinguishes it from another key under the same id. */
export interface IssuerKey {
  readonly key: CryptoKey;
  readonly fingerprint: string;
}

/** The usable keys of an issuer at one moment. */
export class KeySet {
  /** How many published keys are usable. */
  readonly size: number;
  /** How many published keys were ignored: wrong type or use, a weak modulus, or a key id that occurs twice. */
  readonly ignored: number;
  readonly #fingerprints: ReadonlyMap<string, string>;
  readonly #pick: ReturnType<typeof createLocalJWKSet>;

  /**
   * @param body - the parsed response of the issuer.
   * @param maxKeys - a larger set is refused as a whole.
   * @throws AppError `keys_unavailable` when the body is no key set or has too many keys.
   */
  constructor(body: unknown, maxKeys: number) {
    const parsed = SET.safeParse(body);
    if (!parsed.success) throw new AppError('keys_unavailable', 'the answer of the issuer is no key set');
    const { keys } = parsed.data;
    if (keys.length > maxKeys) {
      throw new AppError('keys_unavailable', 'the key set of the issuer has too many keys', {
        details: { keys: keys.length, limit: maxKeys },
      });
    }
    const usable = unambiguous(keys.map(toUsableKey).filter((key) => key !== undefined));
    this.size = usable.length;
    this.ignored = keys.length - usable.length;
    this.#fingerprints = new Map(usable.map(({ kid, n, e }) => [kid, `${n}.${e}`]));
    this.#pick = createLocalJWKSet({ keys: usable });
  }

  /** The fingerprint of the usable key with this id; undefined without such a key. Different keys have different fingerprints. */
  fingerprint(keyId: string): string | undefined {
    return this.#fingerprints.get(keyId);
  }

  /** The key with exactly this id (J-14); undefined without one. */
  async find(keyId: string): Promise<IssuerKey | undefined> {
    const fingerprint = this.#fingerprints.get(keyId);
    if (fingerprint === undefined) return undefined;
    return { key: await this.#pick({ alg: 'RS256', kid: keyId }), fingerprint };
  }
}

function toUsableKey(published: unknown): UsableKey | undefined {
  const parsed = RSA_KEY.safeParse(published);
  if (!parsed.success) return undefined;
  const { kty, kid, n, e, key_ops: operations } = parsed.data;
  // The private part of this key is published, so everybody can sign with it.
  if ('d' in parsed.data) return undefined;
  if (operations !== undefined && !operations.includes('verify')) return undefined;
  return isStrong(n, e) ? { kty, kid, n, e, alg: 'RS256', use: 'sig' } : undefined;
}

function isStrong(n: string, e: string): boolean {
  try {
    const details = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' }).asymmetricKeyDetails;
    const { modulusLength = 0, publicExponent = 0n } = details ?? {};
    // With an exponent of 1 a signature is its own message.
    return modulusLength >= MIN_MODULUS_BITS && modulusLength <= MAX_MODULUS_BITS && publicExponent > 2n;
  } catch {
    return false;
  }
}

/** Drops every key whose id occurs twice: such an id is ambiguous. */
function unambiguous(keys: readonly UsableKey[]): UsableKey[] {
  return keys.filter((key) => keys.filter((other) => other.kid === key.kid).length === 1);
}
