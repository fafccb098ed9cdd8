// Who may see the console and the calls, and in which role: everybody when only this machine can reach the server; otherwise whoever sends
// a token, has signed in with one, or comes through the operator's proxy.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { isLoopback } from '../base/loopback.ts';
import type { ConsoleRole } from './console-api.ts';
import { ConsoleSessions } from './console-sessions.ts';
import { FailedSignIns } from './failed-sign-ins.ts';
import { proxyUserIn } from './proxy-user.ts';

/** The settings of `ops.console`. The tokens differ from each other. */
export interface ConsoleSettings extends ConsoleSecrets {
  readonly proxyHeader: string;
  /** Whether metrics require the same access. */
  readonly guardsMetrics: boolean;
}

/** A way in whose secret is undefined is disabled. */
export interface ConsoleSecrets {
  readonly viewToken: string | undefined;
  readonly listenToken: string | undefined;
  /** In hex. */
  readonly proxyKey: string | undefined;
}

/** A person or program that was let in. */
export interface Visitor {
  /** For the audit: the user that the proxy names, or the way in (`view token`). */
  readonly name: string;
  readonly role: ConsoleRole;
  /** Whether the visitor has a session, which can be ended. */
  readonly hasSession: boolean;
}

/** `closed`: reachable from outside, without a way in. `unknown`: no secret sent; `wrong`: not ours; `limited`: wrong too often before. */
export type ConsoleRefusal = 'closed' | 'unknown' | 'wrong' | 'limited';

const ON_LOOPBACK: Visitor = { name: 'loopback', role: 'view', hasSession: false };

/** One per operations server. */
export class ConsoleAccess {
  readonly #clock: Clock;
  readonly #isLocal: boolean;
  readonly #proxyHeader: string;
  readonly #sessions: ConsoleSessions;
  readonly #failed: FailedSignIns;
  /** Tokens are compared as digests with a random key of this process, so that the duration reveals nothing about a token. */
  readonly #compareKey = randomBytes(32);
  #secrets: ConsoleSecrets;

  /** @param options.host - the address that the server listens on. */
  constructor({ host, console, clock }: { readonly host: string; readonly console: ConsoleSettings; readonly clock: Clock }) {
    this.#clock = clock;
    this.#isLocal = isLoopback(host);
    this.#proxyHeader = console.proxyHeader.toLowerCase();
    this.#secrets = console;
    this.#sessions = new ConsoleSessions(clock);
    this.#failed = new FailedSignIns(clock);
  }

  /** Whether no visitor can be let in. */
  get isClosed(): boolean {
    return !this.#isLocal && !this.#isGuarded;
  }

  /** Whether a token opens a session. */
  get takesTokens(): boolean {
    return this.#secrets.viewToken !== undefined || this.#secrets.listenToken !== undefined;
  }

  /** Replaces the secrets. Signs out whoever signed in with a replaced token. @returns whether any secret changed. */
  renew(next: ConsoleSecrets): boolean {
    const { viewToken, listenToken, proxyKey } = this.#secrets;
    if (next.viewToken !== viewToken) this.#sessions.closeAll('view');
    if (next.listenToken !== listenToken) this.#sessions.closeAll('listen');
    this.#secrets = next;
    return next.viewToken !== viewToken || next.listenToken !== listenToken || next.proxyKey !== proxyKey;
  }

  /** @param from - address of the client. */
  visitorOf(headers: IncomingHttpHeaders, from: string): Visitor | ConsoleRefusal {
    if (this.isClosed) return 'closed';
    if (!this.#isGuarded) return ON_LOOPBACK;
    const { authorization, cookie } = headers;
    const proxied = headers[this.#proxyHeader];
    // Other schemes than Bearer are meant for a proxy in front of this server.
    if (authorization !== undefined && /^bearer\b/iu.test(authorization)) {
      const role = this.#roleOf(/^bearer (?<token>\S+)$/iu.exec(authorization)?.groups?.['token'] ?? '', from);
      return typeof role === 'object' ? { name: `${role.role} token`, role: role.role, hasSession: false } : role;
    }
    if (typeof proxied === 'string' && this.#secrets.proxyKey !== undefined) return this.#proxied(proxied, this.#secrets.proxyKey, from);
    const role = this.#sessions.roleIn(cookie);
    return role === undefined ? 'unknown' : { name: `${role} token`, role, hasSession: true };
  }

  /** Opens a session for a token. @returns the session id, for a cookie. */
  signIn(token: string, from: string): { readonly id: string; readonly role: ConsoleRole } | ConsoleRefusal {
    if (this.isClosed) return 'closed';
    const role = this.#roleOf(token, from);
    return typeof role === 'object' ? { id: this.#sessions.open(role.role), role: role.role } : role;
  }

  /** Ends the session that a Cookie header names. */
  signOut(cookies: string | undefined): void {
    this.#sessions.close(cookies);
  }

  get #isGuarded(): boolean {
    return this.takesTokens || this.#secrets.proxyKey !== undefined;
  }

  #proxied(header: string, key: string, from: string): Visitor | ConsoleRefusal {
    const user = proxyUserIn(header, key, this.#clock.nowMs());
    return user === undefined ? this.#refusedTo(from) : { ...user, hasSession: false };
  }

  #roleOf(token: string, from: string): { readonly role: ConsoleRole } | ConsoleRefusal {
    const given = this.#digestOf(token);
    const is = (expected: string | undefined): boolean => timingSafeEqual(given, this.#digestOf(expected ?? '')) && expected !== undefined;
    const [mayView, mayListen] = [is(this.#secrets.viewToken), is(this.#secrets.listenToken)];
    return mayView || mayListen ? { role: mayListen ? 'listen' : 'view' } : this.#refusedTo(from);
  }

  /** Limits only failures: an address may be shared, and those who fail must not shut out the others. */
  #refusedTo(from: string): ConsoleRefusal {
    if (this.#failed.isLimited(from)) return 'limited';
    this.#failed.add(from);
    return 'wrong';
  }

  #digestOf(token: string): Buffer {
    return createHmac('sha256', this.#compareKey).update(token).digest();
  }
}
