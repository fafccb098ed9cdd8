// The user whom a proxy has signed in, from the header that it signs: `user=NAME;role=ROLE;time=SECONDS;signature=HEX`. The signature is
// HMAC-SHA256 of all that stands before `;signature=`.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ConsoleRole } from './console-api.ts';

/** How far the time in the header may be from ours, ms: a header that was overheard is of use no longer. */
export const REPLAY_WINDOW_MS = 60_000;
const FORM =
  /^(?<signed>user=(?<user>[\x21-\x3a\x3c-\x7e]{1,200});role=(?<role>view|listen);time=(?<time>\d{1,12}));signature=(?<signature>[\da-f]{64})$/u;

export interface ProxyUser {
  readonly name: string;
  readonly role: ConsoleRole;
}

/**
 * @param header - as it came; a repeated header is refused.
 * @param key - hex.
 * @returns undefined when it is malformed, not signed with the key, or of another time.
 */
export function proxyUserIn(header: string, key: string, nowMs: number): ProxyUser | undefined {
  const { signed = '', user = '', role, time, signature = '' } = FORM.exec(header)?.groups ?? {};
  const expected = createHmac('sha256', Buffer.from(key, 'hex')).update(signed).digest();
  const given = Buffer.from(signature, 'hex');
  const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
  if (!isSigned || Math.abs(Number(time) * 1000 - nowMs) > REPLAY_WINDOW_MS) return undefined;
  return { name: user, role: role === 'listen' ? 'listen' : 'view' };
}
