// Access and refresh tokens: whom they act for, how long, and whether they are revoked.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Switches } from './switches.ts';

/** Whom a token acts for, and what it may do. */
export interface Grant {
  readonly clientId: string;
  readonly kind: 'integration' | 'service_app';
  readonly scopes: readonly string[];
  /** The developer's organization, or the customer's of a service app. */
  readonly organizationId: string;
  /** The person, or the machine account of a service app. */
  readonly accountId: string;
}

/** A pair as the token endpoint returns it. */
export interface TokenFields {
  readonly access_token: string;
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly refresh_token_expires_in?: number;
  readonly token_type: 'Bearer';
  readonly scope?: string;
}

/** Counts of an app's tokens in one organization. */
export interface TokenAccount {
  /** Pairs issued without a refresh token: at a login, or through the integration. */
  readonly issued: number;
  /** Refresh tokens that were accepted. */
  readonly refreshed: number;
  /** Access tokens that were used after they expired. Each counts once; revoked ones do not count. */
  readonly endedAccess: number;
  /** Refresh tokens that were used after they expired; counted like access tokens. */
  readonly endedRefresh: number;
}

interface Held {
  readonly grant: Grant;
  readonly expiresMs: number;
}

const MAX_TOKENS = 10_000;
const MAX_ACCOUNTS = 10_000;
const EMPTY: TokenAccount = { issued: 0, refreshed: 0, endedAccess: 0, endedRefresh: 0 };

/** All tokens; at most 10 000 of each kind, the oldest are dropped. */
export class TokenBook {
  readonly #access = new BoundedMap<string, Held>(MAX_TOKENS);
  readonly #refresh = new BoundedMap<string, Held>(MAX_TOKENS);
  readonly #accounts = new BoundedMap<string, TokenAccount>(MAX_ACCOUNTS);
  readonly #clock: Clock;
  readonly #cluster: string;
  readonly #switches: Switches;

  constructor(parts: { readonly clock: Clock; readonly cluster: string; readonly switches: Switches }) {
    this.#clock = parts.clock;
    this.#cluster = parts.cluster;
    this.#switches = parts.switches;
  }

  issue(grant: Grant): TokenFields {
    this.#count(grant, 'issued');
    if (this.#switches.refreshTokens === 'none') return this.#newAccess(grant);
    return { ...this.#newAccess(grant), ...this.#keepRefresh(this.#newToken(grant), grant) };
  }

  /** A new access token for a refresh token of this client; undefined when it is not valid. */
  refresh(clientId: string, refreshToken: string): TokenFields | undefined {
    const held = this.#live(this.#refresh, refreshToken, 'endedRefresh');
    if (held?.grant.clientId !== clientId) return undefined;
    const { grant } = held;
    this.#count(grant, 'refreshed');
    const rule = this.#switches.refreshTokens;
    if (rule === 'rotate') this.#refresh.delete(refreshToken);
    const kept = this.#keepRefresh(rule === 'rotate' ? this.#newToken(grant) : refreshToken, grant);
    return { ...this.#newAccess(grant), ...(rule === 'omit' || rule === 'none' ? {} : kept) };
  }

  /** Whom an access token acts for; undefined when it is not valid. */
  read(accessToken: string): Grant | undefined {
    return this.#live(this.#access, accessToken, 'endedAccess')?.grant;
  }

  /** Monotonic ms until an access token expires; undefined when it is not valid. */
  leftMs(accessToken: string): number | undefined {
    const held = this.#live(this.#access, accessToken, 'endedAccess');
    return held === undefined ? undefined : held.expiresMs - this.#clock.monotonicMs();
  }

  /** Counts of an app's tokens in an organization; they only grow. */
  account(clientId: string, organizationId: string): TokenAccount {
    return this.#accounts.get(accountKey({ clientId, organizationId })) ?? EMPTY;
  }

  /** Revokes tokens whose grant `matches`, and returns their number. */
  revoke(matches: (grant: Grant) => boolean, which: 'access' | 'refresh' | 'both' = 'both'): number {
    const books = { access: [this.#access], refresh: [this.#refresh], both: [this.#access, this.#refresh] }[which];
    return books.reduce((sum, book) => sum + book.deleteWhere(({ grant }) => matches(grant)), 0);
  }

  #newAccess(grant: Grant): TokenFields {
    const seconds = this.#switches.accessTokenSeconds;
    const token = this.#newToken(grant);
    this.#access.set(token, { grant, expiresMs: this.#clock.monotonicMs() + seconds * 1000 });
    const scope = this.#switches.tellsScopes ? { scope: grant.scopes.join(' ') } : {};
    return { access_token: token, expires_in: seconds, token_type: 'Bearer', ...scope };
  }

  /** Its lifetime starts again at each use. */
  #keepRefresh(token: string, grant: Grant): Pick<TokenFields, 'refresh_token' | 'refresh_token_expires_in'> {
    const seconds = this.#switches.refreshTokenSeconds;
    this.#refresh.set(token, { grant, expiresMs: this.#clock.monotonicMs() + seconds * 1000 });
    return { refresh_token: token, refresh_token_expires_in: seconds };
  }

  /** The platform's form: token, cluster and organization. */
  #newToken({ organizationId }: Grant): string {
    return `${randomBytes(48).toString('base64url')}_${this.#cluster}_${organizationId}`;
  }

  #live(book: BoundedMap<string, Held>, token: string, ended: 'endedAccess' | 'endedRefresh'): Held | undefined {
    const held = book.get(token);
    if (held === undefined || held.expiresMs > this.#clock.monotonicMs()) return held;
    book.delete(token);
    this.#count(held.grant, ended);
    return undefined;
  }

  #count(grant: Grant, what: keyof TokenAccount): void {
    const before = this.account(grant.clientId, grant.organizationId);
    this.#accounts.set(accountKey(grant), { ...before, [what]: before[what] + 1 });
  }
}

function accountKey({ clientId, organizationId }: Pick<Grant, 'clientId' | 'organizationId'>): string {
  return `${clientId} ${organizationId}`;
}
