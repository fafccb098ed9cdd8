// What a resource offers to the server: named routes that turn a request into an answer. Resources know no sockets and no framework.
// Journal and faults use the names of routes.
import type { ScopeUse } from './names.ts';
import type { Grant } from './token-book.ts';

/** The names of all routes. The profile decides the paths of login and tokens; the names of these routes stay the same. */
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

/** The name of a route: its method and its path below the base. */
export type RouteName = (typeof ROUTE_NAMES)[number];

/** A request as a resource gets it. Query and body are not validated. */
export interface Asked {
  /** The path of the route that was requested, with placeholders such as `:id`. */
  readonly path: string;
  /** The value of `:id` in the path; empty for a path without `:id`. */
  readonly id: string;
  readonly query: unknown;
  readonly body: unknown;
}

/** A request whose token was verified. */
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
  /** Set when the paths, below the base, differ from the path in the name. All of them are the same route. */
  readonly paths?: readonly string[];
  /** The type of the body. Undefined: the body is not read. */
  readonly takes?: 'json' | 'form';
}

export interface OpenRoute extends RoutePlace {
  readonly needs: 'nothing';
  answer(asked: Asked): Answer | Promise<Answer>;
}

/** A route that requires a token: any token, or one with a scope. */
export interface GuardedRoute extends RoutePlace {
  readonly needs: 'token' | ScopeUse;
  answer(asked: Permitted): Answer | Promise<Answer>;
}

export type Route = OpenRoute | GuardedRoute;
