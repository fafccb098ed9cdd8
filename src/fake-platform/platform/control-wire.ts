// The commands for a running fake platform, and their answers: everything for which the real platform has no address, such as decisions of
// administrators, and failures. Server and client import this file. Knows no sockets.
import { z } from 'zod';
import { ROUTE_NAMES } from './route.ts';

/** The prefix of every command's path. It is outside the paths of the administration side. */
export const CONTROL_PREFIX = '/_control';

const MAX_CHARS = 500;
const MAX_TIMES = 1000;
const MAX_RETRY_AFTER_SECONDS = 3600;
const MAX_SKEW_SECONDS = 30 * 86_400;

const text = z.string().min(1).max(MAX_CHARS);
/** Members of a JSON Web Token. */
const members = z.record(z.string().max(MAX_CHARS), z.json());
const organization = z.strictObject({ organizationId: text });
/** Selects a data source. Without `transport`, the one for gRPC calls, or any other if there is none. */
const caller = { organizationId: text, transport: z.enum(['grpc', 'websocket']).optional() };
/** The requests that a fault affects. */
const aim = { route: z.enum([...ROUTE_NAMES, 'any']).default('any'), times: z.number().int().min(1).max(MAX_TIMES).default(1) };

const breakage = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('500'), ...aim }),
  z.strictObject({ kind: z.literal('429'), ...aim, retryAfterSeconds: z.number().int().min(0).max(MAX_RETRY_AFTER_SECONDS).default(1) }),
  z.strictObject({ kind: z.literal('timeout'), ...aim }),
  z.strictObject({ kind: z.literal('lost-answer'), ...aim }),
  z.strictObject({ kind: z.literal('clock-skew'), seconds: z.number().int().min(-MAX_SKEW_SECONDS).max(MAX_SKEW_SECONDS) }),
  z.strictObject({ kind: z.literal('refresh-tokens'), organizationId: text.optional() }),
  z.strictObject({ kind: z.literal('data-source'), organizationId: text, errorMessage: text }),
]);

const dataSource = z.object({
  id: z.string(),
  organizationId: z.string(),
  transport: z.enum(['grpc', 'websocket', 'unknown']),
  url: z.string(),
  status: z.enum(['active', 'disabled']),
  /** Empty while the data source is active. */
  errorMessage: z.string(),
  /** ISO times with Z. */
  tokenExpiryTime: z.string(),
  updatedAt: z.string(),
});

/** A data source as `status` shows it: without token and nonce. */
export type ShownDataSource = z.output<typeof dataSource>;

/** Every command: its input and its answer. Only `token` and `forge` answer with a secret. */
export const CONTROL = {
  status: {
    request: z.strictObject({}),
    answer: z.object({
      organizations: z.array(z.object({ organizationId: z.string(), authorizedAt: z.string() })),
      dataSources: z.array(dataSource),
      webhooks: z.array(z.object({ id: z.string(), event: z.string(), targetUrl: z.string(), status: z.enum(['active', 'inactive']) })),
      /** Faults that have not happened yet. */
      faults: z.array(z.object({ kind: z.string(), route: z.string(), left: z.number() })),
      skewMs: z.number(),
    }),
  },
  /** An administrator of the organization authorizes the service app. */
  authorize: {
    request: organization,
    /** `listeners`: the number of webhooks that are notified. */
    answer: z.object({ organizationId: z.string(), listeners: z.number() }),
  },
  /** An administrator of the organization withdraws the authorization. */
  deauthorize: {
    request: organization,
    answer: z.object({ organizationId: z.string(), listeners: z.number() }),
  },
  /** Orders a failure. */
  break: {
    request: breakage,
    /** Number of tokens that ended or data sources that were disabled; 0 for failures that are still to come. */
    answer: z.object({ count: z.number() }),
  },
  /** Drops the faults that have not happened, and sets the platform's clock right. */
  mend: {
    request: z.strictObject({}),
    answer: z.object({ faults: z.number() }),
  },
  /** Makes a token like the one that callers of an organization present now, but with other claims and headers; null removes a member. */
  forge: {
    request: z.strictObject({
      ...caller,
      claims: members.default({}),
      header: members.default({}),
      by: z.enum(['first', 'newest', 'public_key']).default('first'),
    }),
    answer: z.object({ token: z.string() }),
  },
  /** Makes a new key for the issuer; the old keys stay published. */
  rotate: { request: z.strictObject({}), answer: z.object({}) },
  /** How often the issuer's keys were fetched. */
  keys: { request: z.strictObject({}), answer: z.object({ requests: z.number() }) },
  /** The token that callers of an organization present now. */
  token: {
    request: z.strictObject(caller),
    answer: z.object({ organizationId: z.string(), dataSourceId: z.string(), tokenExpiryTime: z.string(), token: z.string() }),
  },
} as const;

/** The name of a command. */
export type ControlName = keyof typeof CONTROL;
/** The input of a command, before defaults. */
export type ControlRequest<Name extends ControlName> = z.input<(typeof CONTROL)[Name]['request']>;
/** What a command answers. */
export type ControlAnswer<Name extends ControlName> = z.output<(typeof CONTROL)[Name]['answer']>;
/** The kinds of failures. */
export type BreakKind = z.output<typeof breakage>['kind'];
