// The result of a processed event of the service app: one type for each event. Contains no token text.
import type { TokenSource } from '../token-source.ts';

/** An organization has authorized the app: its tokens are available, and its data sources were checked once. */
export interface OrganizationAuthorized {
  readonly event: 'authorized';
  /** A plain lower-case UUID. */
  readonly organizationId: string;
  /** When the organization's administrator authorized the app, ms since the epoch. */
  readonly authorizedAtMs: number;
  /** The app's tokens in the organization, for the operator's own requests. */
  readonly tokens: TokenSource;
}

/** An organization has withdrawn its authorization: its tokens and nonces are erased, and its calls are refused. */
export interface OrganizationDeauthorized {
  readonly event: 'deauthorized';
  /** A plain lower-case UUID. */
  readonly organizationId: string;
  /** The date of the event, ms since the epoch. The platform may send the date of the authorization that this event ends (H-22). */
  readonly authorizedAtMs: number;
}

/** One of both results; `event` distinguishes them. */
export type AuthorizationResult = OrganizationAuthorized | OrganizationDeauthorized;

/** A hook of the operator. Its errors and its result change nothing. `signal` aborts when nobody waits for the hook any more. */
export type AuthorizationHook = (result: AuthorizationResult, signal: AbortSignal) => void | Promise<void>;
