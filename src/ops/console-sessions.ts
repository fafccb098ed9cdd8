// Sessions of signed-in browsers. Keeps only digests of session ids, in memory: a restart signs everybody out.
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { ConsoleRole } from './console-api.ts';

/** How long a browser stays signed in, ms. */
export const SESSION_MS = 12 * 3_600_000;
/** Most sessions; a further one ends the oldest session. */
export const MAX_SESSIONS = 200;
const COOKIE = 'parley_console';
/** With this prefix, browsers accept the cookie only over TLS and only for this host. */
const SECURE = '__Host-';

/** One per server. */
export class ConsoleSessions {
  readonly #clock: Clock;
  readonly #open = new Map<string, { readonly role: ConsoleRole; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns the new session's id, for {@link cookieOf}. */
  open(role: ConsoleRole): string {
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_SESSIONS && oldest !== undefined) this.#open.delete(oldest);
    const id = randomBytes(32).toString('base64url');
    this.#open.set(digestOf(id), { role, untilMs: this.#clock.monotonicMs() + SESSION_MS });
    return id;
  }

  /** @param cookies - the Cookie header. @returns the role of the session; undefined: no valid session. */
  roleIn(cookies: string | undefined): ConsoleRole | undefined {
    const key = keyIn(cookies);
    const session = key === undefined ? undefined : this.#open.get(key);
    if (session === undefined || session.untilMs > this.#clock.monotonicMs()) return session?.role;
    if (key !== undefined) this.#open.delete(key);
    return undefined;
  }

  /** Ends the session that a Cookie header names, if there is one. */
  close(cookies: string | undefined): void {
    const key = keyIn(cookies);
    if (key !== undefined) this.#open.delete(key);
  }

  /** Ends all sessions of a role whose token has changed. */
  closeAll(role: ConsoleRole): void {
    for (const [key, session] of this.#open) if (session.role === role) this.#open.delete(key);
  }
}

/**
 * The Set-Cookie header of a session. No other site can send the cookie, and no script can read it.
 *
 * @param id - undefined: the browser deletes the cookie.
 * @param isSecure - whether the browser uses TLS to a proxy in front of this server.
 */
export function cookieOf(id: string | undefined, isSecure: boolean): string {
  const lifeS = id === undefined ? 0 : SESSION_MS / 1000;
  return `${isSecure ? SECURE : ''}${COOKIE}=${id ?? ''}; Path=/; Max-Age=${String(lifeS)}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

function keyIn(cookies: string | undefined): string | undefined {
  const id = new RegExp(`(?:^|;\\s*)(?:${SECURE})?${COOKIE}=([\\w-]{43})(?:;|$)`, 'u').exec(cookies ?? '')?.[1];
  return id === undefined ? undefined : digestOf(id);
}

function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
