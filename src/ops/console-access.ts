// Who may see the console and the calls, and in which role: everybody on a server that only its own machine can reach, else whoever shows
// a token, has signed in with one, or comes through the operator's proxy.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { isLoopback } from '../base/loopback.ts';
import type { ConsoleRole } from './console-api.ts';
import { ConsoleSessions } from './console-sessions.ts';
import { FailedSignIns } from './failed-sign-ins.ts';
import { proxyUserIn } from './proxy-user.ts';

/** The settings of `ops.console`. Tokens that differ from each other. */
export interface ConsoleSettings extends ConsoleSecrets {
  readonly proxyHeader: string;
  /** Whether metrics ask for the same. */
  readonly guardsMetrics: boolean;
}

/** Undefined: that way is closed. */
export interface ConsoleSecrets {
  readonly viewToken: string | undefined;
  readonly listenToken: string | undefined;
  /** Hex. */
  readonly proxyKey: string | undefined;
}

/** Who asks. */
export interface Visitor {
  /** For the audit: the user that the proxy names, or how the visitor came in. */
  readonly name: string;
  readonly role: ConsoleRole;
  /** Whether a session can be ended. */
  readonly hasSession: boolean;
}

/** `closed`: other machines can reach the server, and no way in is configured. `wrong`: what was shown is no secret of ours; `limited`: not for the first time. */
export type ConsoleRefusal = 'closed' | 'unknown' | 'wrong' | 'limited';

const ON_LOOPBACK: Visitor = { name: 'loopback', role: 'view', hasSession: false };

/** One per operations server. */
export class ConsoleAccess {
  readonly #clock: Clock;
  readonly #isLocal: boolean;
  readonly #proxyHeader: string;
  readonly #sessions: ConsoleSessions;
  readonly #failed: FailedSignIns;
  /** Compared are digests with a key of this process: nothing about a token can be learnt from the time that takes. */
  readonly #compareKey = randomBytes(32);
  #secrets: ConsoleSecrets;

  /** @param options.host - on which the server listens. */
  constructor({ host, console, clock }: { readonly host: string; readonly console: ConsoleSettings; readonly clock: Clock }) {
    this.#clock = clock;
    this.#isLocal = isLoopback(host);
    this.#proxyHeader = console.proxyHeader.toLowerCase();
    this.#secrets = console;
    this.#sessions = new ConsoleSessions(clock);
    this.#failed = new FailedSignIns(clock);
  }

  /** Whether nobody can come in. */
  get isClosed(): boolean {
    return !this.#isLocal && !this.#isGuarded;
  }

  /** Whether a token opens a session. */
  get takesTokens(): boolean {
    return this.#secrets.viewToken !== undefined || this.#secrets.listenToken !== undefined;
  }

  /** Replaces the secrets. Whoever signed in with a token that is gone is signed out. @returns whether anything changed. */
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
    // Other schemes are for a proxy before this server.
    if (authorization !== undefined && /^bearer\b/iu.test(authorization)) {
      const role = this.#roleOf(/^bearer (?<token>\S+)$/iu.exec(authorization)?.groups?.['token'] ?? '', from);
      return typeof role === 'object' ? { name: `${role.role} token`, role: role.role, hasSession: false } : role;
    }
    if (typeof proxied === 'string' && this.#secrets.proxyKey !== undefined) return this.#proxied(proxied, this.#secrets.proxyKey, from);
    const role = this.#sessions.roleIn(cookie);
    return role === undefined ? 'unknown' : { name: `${role} token`, role, hasSession: true };
  }

  /** Opens a session for a token. @returns its id, for a cookie. */
  signIn(token: string, from: string): { readonly id: string; readonly role: ConsoleRole } | ConsoleRefusal {
    if (this.isClosed) return 'closed';
    const role = this.#roleOf(token, from);
    return typeof role === 'object' ? { id: this.#sessions.open(role.role), role: role.role } : role;
  }

  /** Ends the session of a Cookie header. */
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

  /** Counts failures alone: many may come from one address, and those who fail must not shut out the others. */
  #refusedTo(from: string): ConsoleRefusal {
    if (this.#failed.isLimited(from)) return 'limited';
    this.#failed.add(from);
    return 'wrong';
  }

  #digestOf(token: string): Buffer {
    return createHmac('sha256', this.#compareKey).update(token).digest();
  }
}
