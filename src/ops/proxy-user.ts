// The user that a proxy has authenticated, from the signed header: `user=NAME;role=ROLE;time=SECONDS;signature=HEX`. The signature is the
// HMAC-SHA256 of the text before `;signature=`.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ConsoleRole } from './console-api.ts';

/** Largest difference between the time in the header and ours, ms: limits the reuse of an intercepted header. */
export const REPLAY_WINDOW_MS = 60_000;
const FORM =
  /^(?<signed>user=(?<user>[\x21-\x3a\x3c-\x7e]{1,200});role=(?<role>view|listen);time=(?<time>\d{1,12}));signature=(?<signature>[\da-f]{64})$/u;

export interface ProxyUser {
  readonly name: string;
  readonly role: ConsoleRole;
}

/**
 * @param header - as received; a repeated header is refused.
 * @param key - hex.
 * @returns undefined when the header is malformed, not signed with the key, or outside the time window.
 */
export function proxyUserIn(header: string, key: string, nowMs: number): ProxyUser | undefined {
  const { signed = '', user = '', role, time, signature = '' } = FORM.exec(header)?.groups ?? {};
  const expected = createHmac('sha256', Buffer.from(key, 'hex')).update(signed).digest();
  const given = Buffer.from(signature, 'hex');
  const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
  if (!isSigned || Math.abs(Number(time) * 1000 - nowMs) > REPLAY_WINDOW_MS) return undefined;
  return { name: user, role: role === 'listen' ? 'listen' : 'view' };
}
