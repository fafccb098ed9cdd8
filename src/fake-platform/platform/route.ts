// What a resource offers to the server: named routes that turn a request into an answer. Resources know no sockets and no
// framework; journal and faults use the names.
import type { ScopeUse } from './names.ts';
import type { Grant } from './token-book.ts';

/** Every route by name. Paths of login and tokens come from the profile; their names do not change with it. */
export const ROUTE_NAMES = [
  'GET /authorize',
  'POST /authorize',
  'POST /access_token',
  'GET /authorizations/tokenExpiry',
  'GET /people/me',
  'POST /applications/:id/token',
  'GET /dataSources',
  'POST /dataSources',
  'GET /dataSources/:id',
  'PUT /dataSources/:id',
  'DELETE /dataSources/:id',
  'GET /dataSources/schemas',
  'GET /dataSources/schemas/:id',
  'GET /webhooks',
  'POST /webhooks',
  'GET /webhooks/:id',
  'PUT /webhooks/:id',
  'DELETE /webhooks/:id',
] as const;

/** A route's name: its method and its path below the base. */
export type RouteName = (typeof ROUTE_NAMES)[number];

/** A request as a resource sees it, unchecked. */
export interface Asked {
  /** Which of the route's paths, with its placeholders. */
  readonly path: string;
  /** The `:id` of the path; empty without one. */
  readonly id: string;
  readonly query: unknown;
  readonly body: unknown;
}

/** A request with a verified token. */
export interface Permitted extends Asked {
  readonly grant: Grant;
  readonly accessToken: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, a page, or nothing. */
  readonly json?: unknown;
  readonly html?: string;
}

interface RoutePlace {
  readonly name: RouteName;
  /** Path below the base, if it differs from the name's. A list: all of them are the same route. */
  readonly paths?: readonly string[];
  /** The type of the body; absent when it is not read. */
  readonly takes?: 'json' | 'form';
}

export interface OpenRoute extends RoutePlace {
  readonly needs: 'nothing';
  answer(asked: Asked): Answer | Promise<Answer>;
}

/** A route that requires a token, of any kind or with a scope. */
export interface GuardedRoute extends RoutePlace {
  readonly needs: 'token' | ScopeUse;
  answer(asked: Permitted): Answer | Promise<Answer>;
}

export type Route = OpenRoute | GuardedRoute;
