// A form-urlencoded body as an object. Says nothing about what must be in it.
import { Refusal } from './refusal.ts';

/**
 * @param body - text, or anything else for none.
 * @throws Refusal 400 when a name comes twice: which of the two was meant is anybody's guess.
 */
export function readForm(body: unknown): Readonly<Record<string, string>> {
  const parameters = [...new URLSearchParams(typeof body === 'string' ? body : '')];
  const names = new Set(parameters.map(([name]) => name));
  if (names.size !== parameters.length) throw new Refusal(400, 'a parameter comes twice', { oauthError: 'invalid_request' });
  return Object.fromEntries(parameters);
}
