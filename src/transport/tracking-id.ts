// The platform's correlation id, on every transport the same: it goes into logs, so it is cut to a sane length and alphabet.
import { randomUUID } from 'node:crypto';

/** Longest correlation id that is kept, characters. */
const MAX_CHARS = 128;

/** The id that the platform sent, or a new one where it sent none. */
export function trackingIdOf(sent: string | undefined): string {
  return sent === undefined || sent === '' ? randomUUID() : sent.slice(0, MAX_CHARS).replaceAll(/[^\w.:-]/g, '_');
}
