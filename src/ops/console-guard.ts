// Guards the routes that show calls, metrics or the console: checks the host name, then the visitor. Writes the audit log.
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { ConsoleAccess, ConsoleRefusal, Visitor } from './console-access.ts';
import type { ApiRefusal } from './console-api.ts';
import { isExpectedHost } from './host-names.ts';

export interface GuardOptions {
  readonly access: ConsoleAccess;
  /** Allowed in Host headers, besides localhost and IP addresses. */
  readonly names: readonly string[];
  readonly guardsMetrics: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One line of the audit log. */
export interface Audited {
  readonly what: 'call_opened' | 'sound_heard' | 'signed_in';
  /** From the path of the request. */
  readonly conversationId?: string;
  readonly outcome: 'shown' | 'refused' | 'not_found' | 'busy';
}

const UNKNOWN = { status: 401, error: 'sign in with a token of ops.console' };
const REFUSALS: Readonly<Record<ConsoleRefusal, { readonly status: number } & ApiRefusal>> = {
  closed: {
    status: 403,
    error:
      'other machines can reach this port: set ops.console.view_token or ops.console.proxy_key, or ops.host to 127.0.0.1 (docs/operations.md)',
  },
  unknown: UNKNOWN,
  wrong: UNKNOWN,
  limited: { status: 429, error: 'too many failed attempts: wait a minute' },
};

/** Interval in which the same act of the same visitor is logged once, ms: a page that shows a call requests it repeatedly. */
const AUDIT_PAUSE_MS = 600_000;
/** Most remembered acts. */
const MAX_AUDITED = 1000;

/** The form of the platform's ids; other text in a path is not logged. */
const LOGGABLE_ID = /^[\w.:-]{1,100}$/u;

/** One per operations server. */
export class Guard {
  readonly #options: GuardOptions;
  /** When each act was logged first, and how often it was done since then. */
  readonly #audited = new Map<string, { readonly atMs: number; times: number }>();
  readonly #visitors = new WeakMap<FastifyRequest, Visitor>();
  /** Options of routes: `named` checks only the host name, `visitors` also the visitor, `metrics` does either. */
  readonly named: RouteShorthandOptions = {
    onRequest: async (request, reply) => {
      await this.#demandName(request, reply);
    },
  };
  readonly visitors: RouteShorthandOptions = {
    onRequest: async (request, reply) => {
      if (await this.#demandName(request, reply)) await this.#demandVisitor(request, reply);
    },
  };
  readonly metrics: RouteShorthandOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.metrics = options.guardsMetrics ? this.visitors : this.named;
  }

  /** The visitor of a request that has passed {@link Guard.visitors}. */
  visitorOf(request: FastifyRequest): Visitor | undefined {
    return this.#visitors.get(request);
  }

  /** Answers a refused request, and logs wrong secrets. */
  async refuse(reply: FastifyReply, refusal: ConsoleRefusal): Promise<FastifyReply> {
    const { status, error } = REFUSALS[refusal];
    if (refusal === 'wrong' || refusal === 'limited') this.audit(reply.request, { what: 'signed_in', outcome: 'refused' });
    if (status === 401) reply.header('www-authenticate', 'Bearer realm="parley"');
    if (refusal === 'limited') reply.header('retry-after', '60');
    return reply.code(status).send({ error } satisfies ApiRefusal);
  }

  /** Logs who opened a call, heard one or signed in. */
  audit(request: FastifyRequest, { what, conversationId, outcome }: Audited, visitor = this.visitorOf(request)): void {
    // A requested id that was not found may be any text.
    const isCall = outcome === 'shown' && conversationId !== undefined && LOGGABLE_ID.test(conversationId);
    const call = isCall ? { conversationId } : {};
    const line = { what, ...call, who: visitor?.name ?? 'unknown', role: visitor?.role, from: request.ip, outcome };
    const times = this.#counted(JSON.stringify(line));
    // Refusals are repeated at powers of ten: the tenth, the hundredth and so on.
    if (times > 1 && (outcome !== 'refused' || !/^10+$/u.test(String(times)))) return;
    this.#options.log.info({ event: 'console_audit', ...line, ...(times > 1 && { times }) }, 'somebody used the console');
  }

  /** How often the act was done since it was first logged, including this time. */
  #counted(act: string): number {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#audited.get(act);
    if (known !== undefined && known.atMs > nowMs - AUDIT_PAUSE_MS) return (known.times += 1);
    this.#audited.delete(act);
    this.#audited.set(act, { atMs: nowMs, times: 1 });
    const [oldest] = this.#audited.keys();
    if (this.#audited.size > MAX_AUDITED && oldest !== undefined) this.#audited.delete(oldest);
    return 1;
  }

  async #demandName(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    if (isExpectedHost(request.headers.host, this.#options.names)) return true;
    await reply.code(421).send({ error: 'this host name is not in ops.host_names' } satisfies ApiRefusal);
    return false;
  }

  async #demandVisitor(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const visitor = this.#options.access.visitorOf(request.headers, request.ip);
    if (typeof visitor === 'object') this.#visitors.set(request, visitor);
    else await this.refuse(reply, visitor);
  }
}
