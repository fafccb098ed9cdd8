// What can be counted and timed about calls, tokens and the process, for Prometheus. Labels come from closed sets only:
// loaded bots, our own words and error codes; never conversation, organization or agent ids from the wire (P-03).
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { TokenObserver } from '../auth/jws-verifier.ts';
import { REFUSAL_REASONS } from '../auth/refusal.ts';
import type { Clock } from '../base/clock.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionObserver } from '../session/ports.ts';

/** All metrics of one process. */
export interface Metrics {
  readonly sessions: Required<SessionObserver>;
  readonly tokens: TokenObserver;
  /** A message named an organization that its token does not speak for (G-08). */
  organizationRefused(): void;
  readonly contentType: string;
  /** Everything in the text format of Prometheus. */
  text(): Promise<string>;
}

/** What the metrics are made from. */
export interface MetricsOptions {
  /** Ids of the loaded bots; any other id is counted as `other`. */
  readonly knownBots: Iterable<string>;
  readonly clock: Clock;
  /** Also measure the process itself (memory, processor, event loop); default true. */
  readonly processMetrics?: boolean;
}

const OTHER = 'other';
const LATENCY_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];
const DURATION_BUCKETS_S = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600];

/** Creates the metrics in a registry of their own. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const bots = new Set(options.knownBots);
  const sessions = sessionMetrics(registry, options.clock, (call) => (bots.has(call.agentId) ? call.agentId : OTHER), bots);
  const tokens = tokenMetrics(registry);
  if (options.processMetrics !== false) collectDefaultMetrics({ register: registry });
  const organizations = new Counter({
    name: 'parley_organizations_refused_total',
    help: 'Messages that named an organization which their token does not speak for.',
    registers: [registry],
  });
  const organizationRefused = (): void => {
    organizations.inc();
  };
  return { sessions, tokens, organizationRefused, contentType: registry.contentType, text: () => registry.metrics() };
}

function sessionMetrics(
  registry: Registry,
  clock: Clock,
  botOf: (call: CallFacts) => string,
  bots: Iterable<string>,
): Required<SessionObserver> {
  const registers = [registry];
  const started = new Counter({ name: 'parley_sessions_started_total', help: 'Calls that began.', labelNames: ['bot'], registers });
  const ended = new Counter({
    name: 'parley_sessions_ended_total',
    help: 'Calls that ended, by how.',
    labelNames: ['bot', 'end'],
    registers,
  });
  const open = new Gauge({ name: 'parley_sessions_open', help: 'Calls that are open now.', labelNames: ['bot'], registers });
  const duration = new Histogram({
    name: 'parley_session_duration_seconds',
    help: 'Length of calls that ended, in seconds.',
    labelNames: ['bot'],
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const turns = new Counter({ name: 'parley_turns_ended_total', help: 'Turns that ended, by how.', labelNames: ['bot', 'end'], registers });
  const openTurns = new Gauge({ name: 'parley_turns_open', help: 'Turns that are open now.', labelNames: ['bot'], registers });
  const latency = new Histogram({
    name: 'parley_reply_latency_seconds',
    help: 'Time from the end of a caller input to the first prompt audio, in seconds.',
    labelNames: ['bot'],
    buckets: LATENCY_BUCKETS_S,
    registers,
  });
  const bargeIns = new Counter({
    name: 'parley_barge_ins_total',
    help: 'Prompts that callers interrupted.',
    labelNames: ['bot'],
    registers,
  });
  const failures = new Counter({
    name: 'parley_bot_failures_total',
    help: 'Turns in which a bot failed, by error code.',
    labelNames: ['bot', 'code'],
    registers,
  });
  // A counter that is missing until its first event hides that event from rates.
  for (const bot of bots) {
    for (const counter of [started, bargeIns]) counter.inc({ bot }, 0);
    for (const gauge of [open, openTurns]) gauge.set({ bot }, 0);
  }
  return {
    sessionStarted(call) {
      const bot = botOf(call);
      started.inc({ bot });
      open.inc({ bot });
    },
    sessionEnded(call, end) {
      const bot = botOf(call);
      ended.inc({ bot, end });
      open.dec({ bot });
      duration.observe({ bot }, Math.max(0, clock.nowMs() - call.startedAtMs) / 1000);
    },
    turnStarted(call) {
      openTurns.inc({ bot: botOf(call) });
    },
    replyStarted(call, _turnId, latencyMs) {
      latency.observe({ bot: botOf(call) }, latencyMs / 1000);
    },
    turnEnded(call, _turnId, end) {
      const bot = botOf(call);
      turns.inc({ bot, end });
      openTurns.dec({ bot });
    },
    bargeIn(call) {
      bargeIns.inc({ bot: botOf(call) });
    },
    botFailed(call, _turnId, error) {
      failures.inc({ bot: botOf(call), code: error.code });
    },
  };
}

function tokenMetrics(registry: Registry): TokenObserver {
  const registers = [registry];
  const accepted = new Counter({
    name: 'parley_tokens_accepted_total',
    help: 'Tokens that were accepted, by whether their signature was checked anew.',
    labelNames: ['check'],
    registers,
  });
  const refused = new Counter({
    name: 'parley_tokens_refused_total',
    help: 'Tokens that were refused, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of REFUSAL_REASONS) refused.inc({ reason }, 0);
  return {
    tokenAccepted(remembered) {
      accepted.inc({ check: remembered ? 'remembered' : 'verified' });
    },
    tokenRefused(reason) {
      refused.inc({ reason });
    },
  };
}
