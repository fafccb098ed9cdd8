// Foreign texts, safe for a terminal: one line, short, without control characters and without secrets.
import { scrub } from './scrub.ts';

/** Shorter nonces are no secrets, and would be found in every other word. */
const MIN_SECRET_CHARS = 6;

/**
 * A text of the platform, of a token or of a record.
 *
 * @param secrets - what the shown text may not repeat: the nonce and the token that came with it.
 */
export function shownText(text: string, secrets: readonly (string | undefined)[] = []): string {
  if (secrets.includes(text)) return '[hidden]';
  return scrub(text, secrets.filter((secret) => secret !== undefined && secret.length >= MIN_SECRET_CHARS).map(String));
}
