// All metrics for Prometheus. Labels come from closed sets: loaded bots, our own names and error codes; never
// conversation, organization or agent ids from the wire (P-03).
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { TokenObserver } from '../auth/jws-verifier.ts';
import type { TokenTransport } from '../auth/principal.ts';
import { REFUSAL_REASONS } from '../auth/refusal.ts';
import type { Clock } from '../base/clock.ts';
import { ERROR_MENDS, type ErrorCode } from '../base/errors.ts';
import type { LoadSource } from '../session/admission.ts';
import type { CutCalls } from '../session/draining.ts';
import type { SessionObserver } from '../session/ports.ts';
import { adminMetrics, TRANSPORTS, type AdminMetrics } from './admin-metrics.ts';
import { callMetrics } from './call-metrics.ts';
import { fileMetrics, type FileMetrics } from './file-metrics.ts';
import { forwardMetrics, type ForwardMetrics } from './forward-metrics.ts';
import { MetricMaker } from './metric-maker.ts';
import { organizationMetrics, type KnownOrganizations } from './organization-metrics.ts';
import { processMetrics, type ProcessFacts } from './process-metrics.ts';
import { recordingMetrics, type RecordingMetrics } from './recording-metrics.ts';
import { RefusedOrganizations } from './refused-organizations.ts';
import { storeMetrics, type StoreMetrics } from './store-metrics.ts';
import { voiceMetrics, type VoiceMetrics } from './voice-metrics.ts';

/** All metrics of one process. */
export interface Metrics {
  readonly sessions: Required<SessionObserver>;
  readonly organizations: SessionObserver;
  /** The organizations with refused calls. */
  readonly refused: RefusedOrganizations;
  readonly tokens: TokenObserver;
  readonly voice: VoiceMetrics;
  readonly admin: AdminMetrics;
  readonly files: FileMetrics;
  readonly store: StoreMetrics;
  readonly recordings: RecordingMetrics;
  /** Forwarded turns. */
  readonly forward: ForwardMetrics;
  /** A message named a foreign organization (G-08). */
  organizationRefused(transport: TokenTransport): void;
  /** An RPC, a socket or an upgrade ended with an error. */
  streamRefused(transport: TokenTransport, code: ErrorCode): void;
  /** Sets the source of the number of open sockets; 0 before. */
  watchSockets(count: () => number): void;
  /** The server stopped and cut these open turns and calls. */
  stopped(cut: CutCalls): void;
  /**
   * The bots were reloaded.
   *
   * @param bots - ids that become labels; earlier ids stay, because their calls may still run.
   */
  botsReloaded(outcome: ReloadOutcome, bots?: Iterable<string>): void;
  readonly contentType: string;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
  /** All metrics as plain values, to be joined with those of other processes. */
  reading(): Promise<MetricReading>;
}

/** The metrics of a process for another process. */
export type MetricReading = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Outcome of a reload; after `failed` the previous bots stay in use. */
export const RELOAD_OUTCOMES = ['loaded', 'failed'] as const;
export type ReloadOutcome = (typeof RELOAD_OUTCOMES)[number];

export interface MetricsOptions {
  /** Ids of the loaded bots; calls of any other id are counted as `other`. */
  readonly knownBots: Iterable<string>;
  readonly clock: Clock;
  /** The load readings that admission uses. */
  readonly load: LoadSource;
  /** The most open calls (`sessions.max`); default: this gauge is left out. */
  readonly maxSessions?: number;
  /** Default: there are no metrics of organizations. */
  readonly organizations?: KnownOrganizations;
  /** Facts of the process itself; default: its gauges are left out. */
  readonly self?: ProcessFacts;
  /** Whether to measure the process (memory, CPU, event loop); default true. */
  readonly processMetrics?: boolean;
}

/** Creates the metrics in a new registry. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const bots = new Set(options.knownBots);
  const refused = new RefusedOrganizations(options.clock);
  const sessions = callMetrics(registry, options.clock, bots, refused);
  const organizations = options.organizations === undefined ? {} : organizationMetrics(registry, options.organizations);
  const tokens = tokenMetrics(registry);
  const server = serverMetrics(registry, options.load, bots);
  const voice = voiceMetrics(registry);
  const admin = adminMetrics(registry);
  const files = fileMetrics(registry);
  const store = storeMetrics(registry);
  const forward = forwardMetrics(registry);
  new MetricMaker(registry).gauge('parley_sessions_limit', 'Most calls that may be open, as sessions.max says.', {
    collect: (gauge) => {
      if (options.maxSessions !== undefined) gauge.set(options.maxSessions);
    },
  });
  processMetrics(registry, options.self);
  if (options.processMetrics !== false) collectDefaultMetrics({ register: registry });
  return {
    sessions,
    organizations,
    refused,
    tokens,
    voice,
    admin,
    files,
    store,
    recordings: recordingMetrics(registry),
    forward,
    ...server,
    contentType: registry.contentType,
    text: () => registry.metrics(),
    reading: () => registry.getMetricsAsJSON(),
  };
}

function serverMetrics(
  registry: Registry,
  load: LoadSource,
  bots: Set<string>,
): Pick<Metrics, 'organizationRefused' | 'streamRefused' | 'watchSockets' | 'stopped' | 'botsReloaded'> {
  const make = new MetricMaker(registry);
  const organizations = make.counter('parley_organizations_refused_total', 'Messages that named another organization than their token.', {
    transport: TRANSPORTS,
  });
  const streams = make.counter('parley_streams_refused_total', 'RPCs and sockets that ended with an error.', {
    code: Object.keys(ERROR_MENDS),
    transport: TRANSPORTS,
  });
  let openSockets = (): number => 0;
  make.gauge('parley_sockets_open', 'Open WebSockets.', {
    collect: (gauge) => {
      gauge.set(openSockets());
    },
  });
  const cutTurns = make.counter('parley_turns_cut_total', 'Turns that a stopping server cut at the end of its grace time.');
  const cutCalls = make.counter('parley_calls_cut_total', 'Calls that a stopping server ended silently.');
  const reloads = make.counter('parley_bot_reloads_total', 'Reloads of the bots.', { outcome: RELOAD_OUTCOMES });
  make.gauge('parley_event_loop_delay_seconds', 'Delay of the event loop, as overload.max_loop_delay_ms bounds it.', {
    // The value of the worst process.
    aggregator: 'max',
    collect: (gauge) => {
      gauge.set(load.reading().loopDelayMs / 1000);
    },
  });
  return {
    organizationRefused: (transport) => {
      organizations.inc({ transport });
    },
    streamRefused: (transport, code) => {
      streams.inc({ code, transport });
    },
    watchSockets: (count) => {
      openSockets = count;
    },
    stopped: ({ turns, calls }) => {
      cutTurns.inc(turns);
      cutCalls.inc(calls);
    },
    botsReloaded: (outcome, loaded = []) => {
      reloads.inc({ outcome });
      for (const bot of loaded) bots.add(bot);
    },
  };
}

function tokenMetrics(registry: Registry): TokenObserver {
  const make = new MetricMaker(registry);
  const accepted = make.counter('parley_tokens_accepted_total', 'Tokens that were accepted.', {
    check: ['verified', 'remembered'],
  });
  const refused = make.counter('parley_tokens_refused_total', 'Tokens that were refused.', { reason: REFUSAL_REASONS });
  return {
    tokenAccepted(remembered) {
      accepted.inc({ check: remembered ? 'remembered' : 'verified' });
    },
    tokenRefused(reason) {
      refused.inc({ reason });
    },
  };
}
