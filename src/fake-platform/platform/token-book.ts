// Access and refresh tokens: for whom they act, when they expire, and whether they are revoked.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Switches } from './switches.ts';

/** For whom a token acts, and what it may do. */
export interface Grant {
  readonly clientId: string;
  readonly kind: 'integration' | 'service_app';
  readonly scopes: readonly string[];
  /** The developer's organization; for a service app, the customer's. */
  readonly organizationId: string;
  /** The developer's person; for a service app, the machine account. */
  readonly accountId: string;
}

/** A pair of tokens as the token endpoint returns it. */
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
  /** Pairs that were issued without a refresh token in the request: by a login, or through the integration. */
  readonly issued: number;
  /** Refresh tokens that were accepted. */
  readonly refreshed: number;
  /** Expired access tokens that were used. Each one counts once; revoked tokens do not count. */
  readonly endedAccess: number;
  /** Expired refresh tokens that were used; counted like access tokens. */
  readonly endedRefresh: number;
}

interface Held {
  readonly grant: Grant;
  readonly expiresMs: number;
}

const MAX_TOKENS = 10_000;
const MAX_ACCOUNTS = 10_000;
const EMPTY: TokenAccount = { issued: 0, refreshed: 0, endedAccess: 0, endedRefresh: 0 };

/** All tokens: at most 10,000 of each kind; beyond that, the oldest are dropped. */
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

  /** New tokens for a refresh token of this client; undefined when the refresh token is not valid. */
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

  /** For whom an access token acts; undefined when the token is not valid. */
  read(accessToken: string): Grant | undefined {
    return this.#live(this.#access, accessToken, 'endedAccess')?.grant;
  }

  /** Time until an access token expires, ms; undefined when the token is not valid. */
  leftMs(accessToken: string): number | undefined {
    const held = this.#live(this.#access, accessToken, 'endedAccess');
    return held === undefined ? undefined : held.expiresMs - this.#clock.monotonicMs();
  }

  /** Counts of an app's tokens in an organization. They never decrease. */
  account(clientId: string, organizationId: string): TokenAccount {
    return this.#accounts.get(accountKey({ clientId, organizationId })) ?? EMPTY;
  }

  /** Revokes the tokens whose grant `matches`. @returns their number. */
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

  /** Keeps a refresh token. Each use starts its lifetime anew. */
  #keepRefresh(token: string, grant: Grant): Pick<TokenFields, 'refresh_token' | 'refresh_token_expires_in'> {
    const seconds = this.#switches.refreshTokenSeconds;
    this.#refresh.set(token, { grant, expiresMs: this.#clock.monotonicMs() + seconds * 1000 });
    return { refresh_token: token, refresh_token_expires_in: seconds };
  }

  /** A token in the platform's form: random text, cluster and organization. */
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
