// Whether a presented secret is the known one.
import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares hashes: they have equal length, so the time reveals nothing. */
export function isSameSecret(known: string, presented: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(known), digest(presented));
}
