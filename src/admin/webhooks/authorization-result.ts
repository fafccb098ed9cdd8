// What an event of the service app has come to once it had its effect: one kind of record for each event. Holds no token as text.
import type { TokenSource } from '../token-source.ts';

/** An organization has authorized the app: its tokens are there, and its data sources have been checked once. */
export interface OrganizationAuthorized {
  readonly event: 'authorized';
  /** A plain lower-case UUID. */
  readonly organizationId: string;
  /** When its administrator authorized the app, ms since the epoch. */
  readonly authorizedAtMs: number;
  /** The app's tokens in it, for requests of the operator's own. */
  readonly tokens: TokenSource;
}

/** An organization has taken its authorization back: its tokens and nonces are erased, and its calls are refused. */
export interface OrganizationDeauthorized {
  readonly event: 'deauthorized';
  /** A plain lower-case UUID. */
  readonly organizationId: string;
  /** As the platform dates the event, ms since the epoch: it may be the date of the authorization that it ends (H-22). */
  readonly authorizedAtMs: number;
}

/** Either; `event` tells them apart. */
export type AuthorizationResult = OrganizationAuthorized | OrganizationDeauthorized;

/**
 * Code of the operator that is notified of a result. It may throw and take its time: `signal` aborts when nobody waits for it any
 * more, and what becomes of it changes nothing.
 */
export type AuthorizationHook = (result: AuthorizationResult, signal: AbortSignal) => void | Promise<void>;
