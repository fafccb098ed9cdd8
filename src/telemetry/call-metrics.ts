// Metrics of calls. Labels come from closed sets: loaded bots and our own names, never conversation or agent ids from the wire.
// Organizations appear only when they are among the most refused ones (P-03) or listed by the operator (organization-metrics.ts).
// Between two events of a turn only times are kept.
import type { Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import type { CallFacts } from '../dialog/call.ts';
import { ADMISSION_REFUSALS } from '../session/admission.ts';
import type { SessionObserver } from '../session/ports.ts';
import { MetricMaker } from './metric-maker.ts';
import { modelMetrics } from './model-metrics.ts';
import type { RefusedOrganizations } from './refused-organizations.ts';

const OTHER = 'other';
export const LATENCY_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];
const DURATION_BUCKETS_S = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600];
/** The parts of an answer, without the time on the wire, which no server knows. */
const ANSWER_PARTS = ['endpointing', 'recognition', 'bot', 'model', 'tools', 'synthesis', 'engine'] as const;
const SPEECH_BUCKETS_S = [0.25, 0.5, 1, 1.5, 2, 3, 5, 8, 12, 20, 30];

/** Times of a turn so far, monotonic ms. */
interface TurnTimes {
  speechStartedAtMs?: number;
  speechEndedAtMs?: number;
}

/**
 * An observer that counts calls.
 *
 * @param bots - ids that are used as labels; read for each event, because a reload adds bots.
 */
export function callMetrics(
  registry: Registry,
  clock: Clock,
  bots: ReadonlySet<string>,
  refused: RefusedOrganizations,
): Required<SessionObserver> {
  const botOf = (call: CallFacts): string => (bots.has(call.agentId) ? call.agentId : OTHER);
  const calls = callSeries(registry, bots, refused);
  const turns = turnSeries(registry, bots);
  const models = modelMetrics(registry);
  // By turn id; every turn ends, so the map holds only open ones.
  const times = new Map<string, TurnTimes>();
  return {
    callRefused(call, reason) {
      calls.refused.inc({ reason });
      refused.add(call, reason);
    },
    sessionStarted(call, isContinued = false) {
      const bot = botOf(call);
      (isContinued ? calls.continued : calls.started).inc({ bot });
      calls.open.inc({ bot });
    },
    sessionEnded(call, end) {
      const bot = botOf(call);
      calls.ended.inc({ bot, end });
      calls.open.dec({ bot });
      // The duration of a call is recorded at its last home.
      if (end !== 'moved') calls.duration.observe({ bot }, Math.max(0, clock.nowMs() - call.startedAtMs) / 1000);
    },
    turnStarted(call, turnId) {
      turns.open.inc({ bot: botOf(call) });
      times.set(turnId, {});
    },
    speechStarted(_call, turnId) {
      const turn = times.get(turnId);
      if (turn !== undefined) turn.speechStartedAtMs = clock.monotonicMs();
    },
    speechEnded(call, turnId) {
      const turn = times.get(turnId);
      if (turn === undefined) return;
      turn.speechEndedAtMs = clock.monotonicMs();
      if (turn.speechStartedAtMs === undefined) return;
      turns.speech.observe({ bot: botOf(call) }, (turn.speechEndedAtMs - turn.speechStartedAtMs) / 1000);
    },
    botAsked(call, _turnId, event) {
      turns.asked.inc({ bot: botOf(call), event });
    },
    botAnswered(call, _turnId, tookMs) {
      turns.answer.observe({ bot: botOf(call) }, tookMs / 1000);
    },
    modelReported(_call, _turnId, report) {
      models(report);
    },
    replyStarted(call, turnId, latencyMs) {
      const bot = botOf(call);
      turns.latency.observe({ bot }, latencyMs / 1000);
      const endedAtMs = times.get(turnId)?.speechEndedAtMs;
      if (endedAtMs !== undefined) turns.speechLatency.observe({ bot }, (clock.monotonicMs() - endedAtMs) / 1000);
    },
    recognized() {
      // Not counted here: the time is a part of the answer, and the voice counts the outcome.
    },
    wordsUnderstood() {
      // Metrics contain no words.
    },
    answerTimed(_call, _turnId, parts) {
      for (const part of ANSWER_PARTS) turns.parts.observe({ part }, parts[`${part}Ms`] / 1000);
    },
    turnEnded(call, turnId, end) {
      const bot = botOf(call);
      turns.ended.inc({ bot, end });
      turns.open.dec({ bot });
      times.delete(turnId);
    },
    bargeIn(call, _turnId, by) {
      turns.bargeIns.inc({ bot: botOf(call), by });
    },
    promptResumed(call) {
      turns.resumed.inc({ bot: botOf(call) });
    },
    fillerSpoken(call) {
      turns.fillers.inc({ bot: botOf(call) });
    },
    replyRepeated(call) {
      turns.repeated.inc({ bot: botOf(call) });
    },
    slowReader(call) {
      turns.slowReaders.inc({ bot: botOf(call) });
    },
    botFailed(call, _turnId, error) {
      turns.failures.inc({ bot: botOf(call), code: error.code });
    },
  };
}

function callSeries(registry: Registry, bots: Iterable<string>, refusedOf: RefusedOrganizations) {
  const make = new MetricMaker(registry);
  const bot = [...bots];
  const series = {
    refused: make.counter('parley_calls_refused_total', 'New calls that were refused.', { reason: ADMISSION_REFUSALS }),
    started: make.counter('parley_sessions_started_total', 'Calls that started.', { bot }),
    continued: make.counter('parley_sessions_continued_total', 'Calls that were taken over from another server.', { bot }),
    ended: make.counter('parley_sessions_ended_total', 'Calls that ended.', { bot: [], end: [] }),
    open: make.gauge('parley_sessions_open', 'Open calls.', { labels: { bot } }),
    duration: make.histogram('parley_session_duration_seconds', 'Length of calls that ended.', DURATION_BUCKETS_S, { bot: [] }),
  };
  make.gauge('parley_organization_calls_refused', 'New calls that were refused, of the 20 organizations refused most.', {
    labels: { organization: [], reason: [] },
    collect: (gauge) => {
      gauge.reset();
      for (const { organizationId: organization, reason, calls } of refusedOf.most) gauge.set({ organization, reason }, calls);
    },
  });
  return series;
}

function turnSeries(registry: Registry, bots: Iterable<string>) {
  const make = new MetricMaker(registry);
  const bot = [...bots];
  return {
    ended: make.counter('parley_turns_ended_total', 'Turns that ended.', { bot: [], end: [] }),
    open: make.gauge('parley_turns_open', 'Open turns.', { labels: { bot } }),
    speech: make.histogram(
      'parley_utterance_duration_seconds',
      'Time from the start to the end of speech, with the silence that ended it.',
      SPEECH_BUCKETS_S,
      { bot: [] },
    ),
    asked: make.counter('parley_bot_events_total', 'Events that were sent to a bot.', { bot: [], event: [] }),
    answer: make.histogram('parley_bot_answer_seconds', 'Time that a bot took to answer.', LATENCY_BUCKETS_S, { bot: [] }),
    latency: make.histogram(
      'parley_reply_latency_seconds',
      'Time from the end of a caller input to the first prompt audio.',
      LATENCY_BUCKETS_S,
      { bot: [] },
    ),
    speechLatency: make.histogram(
      'parley_speech_latency_seconds',
      'Time from the end of speech to the first prompt audio, the recognizer and waiting inputs included.',
      LATENCY_BUCKETS_S,
      { bot: [] },
    ),
    parts: make.histogram(
      'parley_answer_part_seconds',
      'Parts of the time from the last sound of the caller, or the end of another input, to the first sound of the reply.',
      LATENCY_BUCKETS_S,
      { part: ANSWER_PARTS },
    ),
    bargeIns: make.counter('parley_barge_ins_total', 'Prompts that callers interrupted.', {
      bot,
      by: ['speech', 'keys'],
    }),
    resumed: make.counter('parley_prompts_resumed_total', 'Prompts that resumed after a false interruption.', { bot }),
    fillers: make.counter('parley_fillers_total', 'Fillers that were played while a bot was thinking.', { bot }),
    slowReaders: make.counter('parley_slow_readers_total', 'Turns whose client did not read its prompts in time.', {
      bot,
    }),
    repeated: make.counter('parley_replies_repeated_total', 'Replies that were repeated because their server died or stalled.', { bot }),
    failures: make.counter('parley_bot_failures_total', 'Turns in which a bot failed.', { bot: [], code: [] }),
  };
}
