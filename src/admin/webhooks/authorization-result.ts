// The result of a processed event of the service app: one type for each event. Holds no token as text.
import type { TokenSource } from '../token-source.ts';

/** An organization has authorized the app: its tokens are available, and its data sources were checked once. */
export interface OrganizationAuthorized {
  readonly event: 'authorized';
  /** A plain lower-case UUID. */
  readonly organizationId: string;
  /** When its administrator authorized the app, ms since the epoch. */
  readonly authorizedAtMs: number;
  /** The app's tokens in it, for the operator's own requests. */
  readonly tokens: TokenSource;
}

/** An organization has withdrawn its authorization: its tokens and nonces are erased, and its calls are refused. */
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
 * A hook of the operator. It may throw and take its time: `signal` aborts when nobody waits for it any more, and its outcome
 * changes nothing.
 */
export type AuthorizationHook = (result: AuthorizationResult, signal: AbortSignal) => void | Promise<void>;
