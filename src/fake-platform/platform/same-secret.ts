// Whether a presented secret is the known one.
import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares hashes: they have one length, so that nothing is learnt from how long it takes. */
export function isSameSecret(known: string, presented: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(known), digest(presented));
}
