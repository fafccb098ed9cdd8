// Verifies that a delivery comes from the platform, with the secrets of our registrations. Works on the raw bytes and does not
// interpret them (H-12).
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The signature headers of one delivery, undefined where missing. */
export interface DeliverySignatures {
  /** Hex of HMAC-SHA1 (H-10). */
  readonly sha1: string | undefined;
  /** Of SHA-256 or SHA-512, or both; not all deliveries carry it (H-11). */
  readonly sha2: string | undefined;
}

type Algorithm = 'sha1' | 'sha256' | 'sha512';

interface Signature {
  readonly algorithm: Algorithm;
  readonly digest: Buffer;
}

const HEX = /^[0-9a-f]+$/u;
const HEX_CHARS: Readonly<Record<Algorithm, number>> = { sha1: 40, sha256: 64, sha512: 128 };
/** Longest header: both stronger signatures with their names. */
const MAX_HEADER_CHARS = 300;
const NAMED = /^(sha-?256|sha-?512)=(.*)$/iu;

/**
 * Whether there is a readable signature and all readable ones are valid, with one secret. A stronger one in an unknown form does
 * not invalidate a valid SHA-1 (H-13, U-10). Takes the same time wherever a wrong one differs.
 *
 * @param secrets - every secret that a registration of ours may sign with; without any, nothing is genuine.
 */
export function isGenuine(body: Uint8Array, { sha1, sha2 }: DeliverySignatures, secrets: readonly string[]): boolean {
  const weak = sha1 === undefined ? [] : [readHex('sha1', sha1)];
  const strong = sha2 === undefined ? [] : (readStrong(sha2) ?? []);
  const signatures = [...weak, ...strong];
  if (signatures.length === 0 || !signatures.every(isRead)) return false;
  let isGood = false;
  // No early exit: the time must not reveal which secret or signature was near.
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

/** `SHA-256=<hex>,SHA-512=<hex>`, `sha256=<hex>` or the hex alone (H-11); undefined for any other form. */
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
