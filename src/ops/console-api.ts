// What the console asks a server, and what it is answered: types only, shared with the page. Times are ms since the epoch, durations ms,
// unless said otherwise.
import type { OrganizationCalls } from '../dialog/call-view.ts';

/** What a visitor may do: `listen` also hears recordings and reads what was said in them. */
export type ConsoleRole = 'view' | 'listen';

/** GET /api/visitor. */
export interface ShownVisitor {
  readonly name: string;
  readonly role: ConsoleRole;
  /** Whether DELETE /api/session signs the visitor out. */
  readonly hasSession: boolean;
}

/** The body of every refusal. */
export interface ApiRefusal {
  readonly error: string;
}

/** The body of POST /api/session, which answers with a cookie. */
export interface SignIn {
  readonly token: string;
}

/** GET /api/overview: all servers that share calls with the one that answers. */
export interface Overview {
  readonly nowMs: number;
  readonly servers: readonly ShownServer[];
  readonly silent: readonly SilentServer[];
  /** The last hour, the oldest first; a slot in which nothing happened is missing. */
  readonly traffic: readonly ShownTraffic[];
  readonly slotMs: number;
  /** Over all of `traffic`. */
  readonly latency: ShownLatency;
  /** The organizations that were refused most often, since the start of the servers. */
  readonly refused: readonly ShownRefusal[];
  readonly dataSources: readonly ShownDataSource[];
  readonly services: readonly ShownService[];
}

/** One process that takes calls. */
export interface ShownServer {
  /** New with each start of the process. */
  readonly id: string;
  readonly version: string;
  readonly startedAtMs: number;
  /** `host:port` for calls. */
  readonly address: string;
  readonly isReady: boolean;
  /** Why it is not ready; with `draining` it stops. */
  readonly reasons: readonly string[];
  readonly openCalls: number;
  readonly maxCalls: number;
  readonly openTurns: number;
  readonly loopDelayMs: number;
  readonly rssBytes: number;
  /** 0 to 100. */
  readonly heapPercent: number;
}

/** A server that did not answer in time: what it knows is missing. */
export interface SilentServer {
  readonly id: string;
  readonly address: string;
  readonly isDraining: boolean;
}

export interface ShownLatency {
  /** Replies. */
  readonly count: number;
  /** Time from a caller's input to the first sound of the reply. Undefined: no replies. */
  readonly p50Ms?: number;
  readonly p95Ms?: number;
  readonly p99Ms?: number;
}

/** What happened within one slot of time. */
export interface ShownTraffic extends ShownLatency {
  readonly atMs: number;
  readonly started: number;
  readonly ended: number;
  readonly refused: number;
  readonly turns: number;
  /** Turns in which a bot failed. */
  readonly failed: number;
}

export interface ShownRefusal {
  readonly organizationId: string;
  readonly reason: string;
  readonly calls: number;
  readonly lastAtMs: number;
}

/** GET /api/organizations: those with most new calls first. */
export interface ShownOrganizations {
  /** So far back the counts go at most; not behind the start of each server. */
  readonly hours: number;
  readonly organizations: readonly OrganizationCalls[];
  readonly silent: readonly SilentServer[];
}

export interface ShownDataSource {
  readonly organizationId: string;
  readonly transport: 'grpc' | 'websocket';
  readonly dataSourceId?: string;
  /** Whether calls can come in. */
  readonly isServed: boolean;
  /** Whether it needs a person. */
  readonly isAlarming: boolean;
  readonly expiresAtMs?: number;
  /** From its expiry and the lifetime of its token. */
  readonly renewedAtMs?: number;
  /** The last check that went well. */
  readonly checkedAtMs: number;
  /** Code of the error of the last check. */
  readonly error?: string;
}

/** A speech service, or a language model, since the start of the servers. */
export interface ShownService {
  readonly kind: 'speech' | 'model';
  readonly name: string;
  /** Undefined: it has none. The worst of all servers. */
  readonly circuit?: 'closed' | 'half_open' | 'open';
  readonly requests: number;
  readonly failed: number;
  readonly retried: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

/** GET /api/calls: the latest first. */
export interface FoundCalls {
  readonly calls: readonly ShownCallRow[];
  readonly silent: readonly SilentServer[];
}

export interface ShownCallRow {
  readonly conversationId: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly startedAtMs: number;
  /** Undefined: it goes on. */
  readonly end?: string;
  /** Until its last fact. */
  readonly durationMs: number;
  readonly turns: number;
  /** Of the server where it lives or ended. */
  readonly server: string;
}
