// The platform's correlation id. It appears in logs, so its length and characters are limited.
import { randomUUID } from 'node:crypto';

/** Longest correlation id, characters. */
const MAX_CHARS = 128;

/** The platform's id, or a new one. */
export function trackingIdOf(sent: string | undefined): string {
  return sent === undefined || sent === '' ? randomUUID() : sent.slice(0, MAX_CHARS).replaceAll(/[^\w.:-]/g, '_');
}
