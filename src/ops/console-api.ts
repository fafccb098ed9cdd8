// Requests and answers of the console API: types only, shared with the page. Times are ms since the epoch and durations are ms, unless
// stated otherwise.
import type { OrganizationCalls } from '../dialog/call-view.ts';

/** The role of a visitor: `listen` may also hear recordings and read transcripts. */
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

/** GET /api/overview: all servers that share calls with the answering one. */
export interface Overview {
  readonly nowMs: number;
  readonly servers: readonly ShownServer[];
  readonly silent: readonly SilentServer[];
  /** The last hour, oldest first, without slots in which nothing happened. */
  readonly traffic: readonly ShownTraffic[];
  readonly slotMs: number;
  /** For all slots of `traffic` together. */
  readonly latency: ShownLatency;
  /** The organizations with most refused calls, since the servers started. */
  readonly refused: readonly ShownRefusal[];
  readonly dataSources: readonly ShownDataSource[];
  readonly services: readonly ShownService[];
}

/** One process that takes calls. */
export interface ShownServer {
  /** New for each start of the process. */
  readonly id: string;
  readonly version: string;
  readonly startedAtMs: number;
  /** `host:port` for calls. */
  readonly address: string;
  readonly isReady: boolean;
  /** Why the server is not ready; with `draining` it is stopping. */
  readonly reasons: readonly string[];
  readonly openCalls: number;
  readonly maxCalls: number;
  readonly openTurns: number;
  readonly loopDelayMs: number;
  readonly rssBytes: number;
  /** From 0 to 100. */
  readonly heapPercent: number;
}

/** A server that did not answer in time; the answer lacks what that server knows. */
export interface SilentServer {
  readonly id: string;
  readonly address: string;
  readonly isDraining: boolean;
}

export interface ShownLatency {
  /** Number of replies. */
  readonly count: number;
  /** Time from a caller's input to the first audio of the reply. Undefined: no replies. */
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
  /** The period that the counts cover, hours; less for a server that started later. */
  readonly hours: number;
  readonly organizations: readonly OrganizationCalls[];
  readonly silent: readonly SilentServer[];
}

export interface ShownDataSource {
  readonly organizationId: string;
  readonly transport: 'grpc' | 'websocket';
  readonly dataSourceId?: string;
  /** Whether its calls can come in. */
  readonly isServed: boolean;
  /** Whether a person must act. */
  readonly isAlarming: boolean;
  readonly expiresAtMs?: number;
  /** Computed from the token's expiry and lifetime. */
  readonly renewedAtMs?: number;
  /** The last successful check. */
  readonly checkedAtMs: number;
  /** The error code of the last check; undefined when it succeeded. */
  readonly error?: string;
}

/** A speech service or a language model, since the servers started. */
export interface ShownService {
  readonly kind: 'speech' | 'model';
  readonly name: string;
  /** The worst state on any server. Undefined: the service has no circuit breaker. */
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
  /** Undefined: the call goes on. */
  readonly end?: string;
  /** From the start to the last fact; while the call goes on, until now. */
  readonly durationMs: number;
  readonly turns: number;
  /** The server where the call lives or ended. */
  readonly server: string;
}
