import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import type { CallFacts } from '../../../src/dialog/call.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { CALM, callFacts, notifyAll, REPORT } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const clock = new FakeClock();

const load = { loopDelayMs: 0, rssBytes: 0, heapPercent: 0 };

function callTo(agentId: string, conversationId = 'conv'): CallFacts {
  return callFacts({ agentId, conversationId, startedAtMs: clock.nowMs() });
}

function make(): Metrics {
  return createMetrics({ knownBots: ['echo', 'front-desk'], clock, load: { reading: () => load }, processMetrics: false });
}

/** The samples of the text format: `name{labels}` → value. */
async function samples(metrics: Metrics): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const line of (await metrics.text()).split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name, value] = /^([a-z_]+(?:\{[^}]*\})?) (\S+)$/u.exec(line) ?? [];
    if (name === undefined) throw new Error(`no sample: ${line}`);
    found.set(name, Number(value));
  }
  return found;
}

describe('createMetrics', () => {
  it('adds up the parts of the time to replies', async () => {
    const metrics = make();
    const parts = { endpointingMs: 800, recognitionMs: 60, botMs: 5, modelMs: 400, toolsMs: 0, synthesisMs: 120, engineMs: 2 };
    for (let turn = 0; turn < 2; turn += 1) metrics.sessions.answerTimed(callTo('echo'), 't', parts);
    const now = await samples(metrics);
    const of = (kind: string, part: string) => now.get(`parley_answer_part_seconds_${kind}{part="${part}"}`);
    expect(['endpointing', 'recognition', 'bot', 'model', 'tools', 'synthesis', 'engine'].map((part) => of('sum', part))).toEqual([
      ...[1.6, 0.12, 0.01, 0.8, 0, 0.24, 0.004],
    ]);
    expect([of('count', 'tools'), of('count', 'wire')]).toEqual([2, undefined]);
  });

  it('counts a call from start to end', async () => {
    const metrics = make();
    const call = callTo('echo');
    metrics.sessions.sessionStarted(call);
    metrics.sessions.turnStarted(call, 't1');
    let now = await samples(metrics);
    expect(now.get('parley_sessions_open{bot="echo"}')).toBe(1);
    expect(now.get('parley_turns_open{bot="echo"}')).toBe(1);

    metrics.sessions.speechStarted(call, 't1');
    clock.advance(1500);
    metrics.sessions.speechEnded(call, 't1', 800);
    metrics.sessions.botAsked(call, 't1', 'speech_input');
    clock.advance(300);
    metrics.sessions.botAnswered(call, 't1', 60);
    metrics.sessions.replyStarted(call, 't1', 240, 0);
    metrics.sessions.bargeIn(call, 't1', 'keys', 400);
    metrics.sessions.fillerSpoken(call, 't1');
    metrics.sessions.promptResumed(call, 't1');
    metrics.sessions.slowReader(call, 't1');
    metrics.sessions.botFailed(call, 't1', new AppError('bot_timeout', ''));
    metrics.sessions.turnEnded(call, 't1', 'interrupted');
    clock.advance(43_200);
    metrics.sessions.sessionEnded(call, 'bot_end');
    now = await samples(metrics);
    expect(Object.fromEntries([...now].filter(([name]) => name.includes('echo') && !name.includes('_bucket')))).toEqual({
      'parley_sessions_started_total{bot="echo"}': 1,
      'parley_sessions_continued_total{bot="echo"}': 0,
      'parley_sessions_ended_total{bot="echo",end="bot_end"}': 1,
      'parley_sessions_open{bot="echo"}': 0,
      'parley_session_duration_seconds_sum{bot="echo"}': 45,
      'parley_session_duration_seconds_count{bot="echo"}': 1,
      'parley_turns_ended_total{bot="echo",end="interrupted"}': 1,
      'parley_turns_open{bot="echo"}': 0,
      'parley_reply_latency_seconds_sum{bot="echo"}': 0.24,
      'parley_reply_latency_seconds_count{bot="echo"}': 1,
      'parley_utterance_duration_seconds_sum{bot="echo"}': 1.5,
      'parley_utterance_duration_seconds_count{bot="echo"}': 1,
      'parley_bot_events_total{bot="echo",event="speech_input"}': 1,
      'parley_bot_answer_seconds_sum{bot="echo"}': 0.06,
      'parley_bot_answer_seconds_count{bot="echo"}': 1,
      'parley_speech_latency_seconds_sum{bot="echo"}': 0.3,
      'parley_speech_latency_seconds_count{bot="echo"}': 1,
      'parley_barge_ins_total{bot="echo",by="speech"}': 0,
      'parley_barge_ins_total{bot="echo",by="keys"}': 1,
      'parley_prompts_resumed_total{bot="echo"}': 1,
      'parley_fillers_total{bot="echo"}': 1,
      'parley_slow_readers_total{bot="echo"}': 1,
      'parley_replies_repeated_total{bot="echo"}': 0,
      'parley_bot_failures_total{bot="echo",code="bot_timeout"}': 1,
    });
    expect(now.get('parley_reply_latency_seconds_bucket{le="0.2",bot="echo"}')).toBe(0);
    expect(now.get('parley_reply_latency_seconds_bucket{le="0.3",bot="echo"}')).toBe(1);
  });

  it('shows every loaded bot with 0 before its first call', async () => {
    const now = await samples(make());
    expect(now.get('parley_sessions_started_total{bot="front-desk"}')).toBe(0);
    expect(now.get('parley_sessions_open{bot="echo"}')).toBe(0);
  });

  it('P-03 does not grow with ids from the wire', async () => {
    const metrics = make();
    const fire = (id: string): void => {
      const call = callTo(`bot-${id}`, `conv-${id}`);
      notifyAll(metrics.sessions, call, id);
    };
    fire('CANARY');
    const before = (await samples(metrics)).size;
    for (let index = 0; index < 500; index++) fire(String(index));
    const now = await samples(metrics);
    expect(now.size).toBe(before);
    expect(now.get('parley_sessions_started_total{bot="other"}')).toBe(501);
    expect(await metrics.text()).not.toMatch(/CANARY|conv-|bot-/u);
  });

  it('counts what models and tools did, and grows neither with names nor with words of a bot', async () => {
    const metrics = make();
    const call = callTo('echo');
    metrics.sessions.modelReported(call, 't1', REPORT);
    const now = await samples(metrics);
    expect(Object.fromEntries([...now].filter(([name, value]) => name.includes('_ai_') && !name.includes('_bucket') && value > 0))).toEqual(
      {
        'parley_ai_first_token_seconds_sum{model="small"}': 0.4,
        'parley_ai_first_token_seconds_count{model="small"}': 1,
        'parley_ai_turn_seconds_sum{part="first_sentence"}': 0.9,
        'parley_ai_turn_seconds_count{part="first_sentence"}': 1,
        'parley_ai_turn_seconds_sum{part="tools"}': 0.05,
        'parley_ai_turn_seconds_count{part="tools"}': 1,
        'parley_ai_turn_seconds_sum{part="whole"}': 3,
        'parley_ai_turn_seconds_count{part="whole"}': 1,
        'parley_ai_tokens_total{direction="in"}': 100,
        'parley_ai_tokens_total{direction="out"}': 20,
        'parley_ai_tools_total{tool="book",outcome="ok"}': 1,
        'parley_ai_failures_total{why="late"}': 1,
        'parley_ai_budget_total{kind="rounds"}': 1,
      },
    );
    // As a bot of another copy of the package, or one without types, might.
    for (let index = 0; index < 500; index += 1) {
      const words = `words ${String(index)}` as never;
      const tools = [{ name: words, ms: 1, ok: false }];
      metrics.sessions.modelReported(call, 't1', { ...REPORT, model: words, tools, failures: [words], usedUp: words });
    }
    const series = [...(await samples(metrics)).keys()].filter((name) => name.includes('_ai_'));
    expect(series.filter((name) => name.includes('_ai_tools'))).toHaveLength(101);
    expect(series.filter((name) => name.includes('first_token_seconds_count'))).toHaveLength(21);
    expect(series.filter((name) => /(?:failures|budget)/u.test(name))).toHaveLength(9);
  });

  it('counts tokens by what happened to them, and J-1C refusals by reason', async () => {
    const metrics = make();
    metrics.tokens.tokenAccepted(false);
    metrics.tokens.tokenAccepted(true);
    metrics.tokens.tokenAccepted(true);
    metrics.tokens.tokenRefused('expired');
    const now = await samples(metrics);
    expect(now.get('parley_tokens_accepted_total{check="verified"}')).toBe(1);
    expect(now.get('parley_tokens_accepted_total{check="remembered"}')).toBe(2);
    expect(now.get('parley_tokens_refused_total{reason="expired"}')).toBe(1);
    expect(now.get('parley_tokens_refused_total{reason="signature_invalid"}')).toBe(0);
  });

  it('keeps the times of a turn no longer than the turn, and times only what began', async () => {
    const metrics = make();
    const call = callTo('echo');
    // Speech of a turn that is not known, and an end without a start, as after a resumed prompt.
    metrics.sessions.speechStarted(call, 'unknown');
    metrics.sessions.speechEnded(call, 'unknown', 800);
    metrics.sessions.turnStarted(call, 't');
    metrics.sessions.speechEnded(call, 't', 800);
    metrics.sessions.turnEnded(call, 't', 'replied');
    metrics.sessions.replyStarted(call, 't', 5, 0);
    const now = await samples(metrics);
    expect(now.has('parley_utterance_duration_seconds_count{bot="echo"}')).toBe(false);
    expect(now.has('parley_speech_latency_seconds_count{bot="echo"}')).toBe(false);
    expect(now.get('parley_reply_latency_seconds_count{bot="echo"}')).toBe(1);
  });

  it('counts refused calls by reason, refused streams by code and transport, and refused organizations by transport, each shown with 0 before its first', async () => {
    const metrics = make();
    metrics.sessions.callRefused(callTo('echo'), 'organization');
    metrics.streamRefused('grpc', 'slow_reader');
    metrics.organizationRefused('websocket');
    const now = await samples(metrics);
    expect(now.get('parley_calls_refused_total{reason="organization"}')).toBe(1);
    expect(now.get('parley_calls_refused_total{reason="loop_delay"}')).toBe(0);
    expect(now.get('parley_streams_refused_total{code="slow_reader",transport="grpc"}')).toBe(1);
    expect(now.get('parley_streams_refused_total{code="slow_reader",transport="websocket"}')).toBe(0);
    expect(now.get('parley_streams_refused_total{code="overloaded",transport="grpc"}')).toBe(0);
    expect(now.get('parley_organizations_refused_total{transport="grpc"}')).toBe(0);
    expect(now.get('parley_organizations_refused_total{transport="websocket"}')).toBe(1);
  });

  it('shows how many sockets are open, and none without the transport that has them', async () => {
    const metrics = make();
    expect((await samples(metrics)).get('parley_sockets_open')).toBe(0);
    let open = 3;
    metrics.watchSockets(() => open);
    expect((await samples(metrics)).get('parley_sockets_open')).toBe(3);
    open = 2;
    expect((await samples(metrics)).get('parley_sockets_open')).toBe(2);
  });

  it('counts what a stopping server cut and how loading the bots again went, and shows the delay of the event loop', async () => {
    const metrics = make();
    metrics.stopped({ turns: 3, calls: 2 });
    metrics.botsReloaded('failed');
    load.loopDelayMs = 125;
    const now = await samples(metrics);
    load.loopDelayMs = 0;
    expect(now.get('parley_turns_cut_total')).toBe(3);
    expect(now.get('parley_calls_cut_total')).toBe(2);
    expect(now.get('parley_bot_reloads_total{outcome="failed"}')).toBe(1);
    expect(now.get('parley_bot_reloads_total{outcome="loaded"}')).toBe(0);
    expect(now.get('parley_event_loop_delay_seconds')).toBe(0.125);
  });

  it('measures the process in a registry of its own, as often as it is made', async () => {
    const first = createMetrics({ knownBots: [], clock, load: CALM });
    const second = createMetrics({ knownBots: [], clock, load: CALM });
    expect(await first.text()).toContain('process_resident_memory_bytes');
    expect(await second.text()).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(first.contentType).toMatch(/^text\/plain/u);
  });
});
