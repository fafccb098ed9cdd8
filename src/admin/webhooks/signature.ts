// Verifies with the secrets of our registrations that a delivery comes from the platform. Works on the raw bytes and does not interpret
// them (H-12).
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The signature headers of one delivery; undefined when missing. */
export interface DeliverySignatures {
  /** HMAC-SHA1 in hex (H-10). */
  readonly sha1: string | undefined;
  /** HMAC-SHA256, HMAC-SHA512 or both; not every delivery has them (H-11). */
  readonly sha2: string | undefined;
}

type Algorithm = 'sha1' | 'sha256' | 'sha512';

interface Signature {
  readonly algorithm: Algorithm;
  readonly digest: Buffer;
}

const HEX = /^[0-9a-f]+$/u;
const HEX_CHARS: Readonly<Record<Algorithm, number>> = { sha1: 40, sha256: 64, sha512: 128 };
/** Longest SHA-2 header: both signatures with their names. */
const MAX_HEADER_CHARS = 300;
const NAMED = /^(sha-?256|sha-?512)=(.*)$/iu;

/**
 * Whether there is a readable signature, and one secret fits all readable signatures. A SHA-2 header in an unknown form does not invalidate
 * a valid SHA-1 signature (H-13, U-10). Takes the same time wherever a wrong signature differs.
 *
 * @param secrets - every secret with which the platform may sign; without any, no delivery is genuine.
 */
export function isGenuine(body: Uint8Array, { sha1, sha2 }: DeliverySignatures, secrets: readonly string[]): boolean {
  const weak = sha1 === undefined ? [] : [readHex('sha1', sha1)];
  const strong = sha2 === undefined ? [] : (readStrong(sha2) ?? []);
  const signatures = [...weak, ...strong];
  if (signatures.length === 0 || !signatures.every(isRead)) return false;
  let isGood = false;
  // No early exit: the time must not reveal which secret or signature was similar.
  for (const secret of secrets) {
    let fits = secret !== '';
    for (const { algorithm, digest } of signatures) fits = timingSafeEqual(hmac(algorithm, secret, body), digest) && fits;
    isGood = fits || isGood;
  }
  return isGood;
}

function isRead(signature: Signature | undefined): signature is Signature {
  return signature !== undefined;
}

function hmac(algorithm: Algorithm, secret: string, body: Uint8Array): Buffer {
  return createHmac(algorithm, secret).update(body).digest();
}

function readHex(algorithm: Algorithm, hex: string): Signature | undefined {
  return hex.length === HEX_CHARS[algorithm] && HEX.test(hex) ? { algorithm, digest: Buffer.from(hex, 'hex') } : undefined;
}

/** Reads `SHA-256=<hex>,SHA-512=<hex>`, `sha256=<hex>` or the hex alone (H-11); undefined for any other form. */
function readStrong(header: string): readonly Signature[] | undefined {
  if (header.length > MAX_HEADER_CHARS) return undefined;
  const read: Signature[] = [];
  for (const part of header.split(',')) {
    const signature = readPart(part.trim());
    if (signature === undefined) return undefined;
    read.push(signature);
  }
  return read;
}

function readPart(part: string): Signature | undefined {
  const [, name, hex] = NAMED.exec(part) ?? [];
  if (name !== undefined && hex !== undefined) return readHex(name.endsWith('256') ? 'sha256' : 'sha512', hex);
  return readHex('sha256', part) ?? readHex('sha512', part);
}
