import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import type { CallFacts } from '../../../src/dialog/call.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const clock = new FakeClock();

function callTo(agentId: string, conversationId = 'conv'): CallFacts {
  return { organizationId: 'org', conversationId, agentId, startedAtMs: clock.nowMs(), vendorConfig: '', parameters: {} };
}

function make(): Metrics {
  return createMetrics({ knownBots: ['echo', 'front-desk'], clock, processMetrics: false });
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
  it('counts a call from start to end', async () => {
    const metrics = make();
    const call = callTo('echo');
    metrics.sessions.sessionStarted(call);
    metrics.sessions.turnStarted(call, 't1');
    let now = await samples(metrics);
    expect(now.get('parley_sessions_open{bot="echo"}')).toBe(1);
    expect(now.get('parley_turns_open{bot="echo"}')).toBe(1);

    metrics.sessions.replyStarted(call, 't1', 240);
    metrics.sessions.bargeIn(call, 't1');
    metrics.sessions.botFailed(call, 't1', new AppError('bot_timeout', ''));
    metrics.sessions.turnEnded(call, 't1', 'interrupted');
    clock.advance(45_000);
    metrics.sessions.sessionEnded(call, 'bot_end');
    now = await samples(metrics);
    expect(Object.fromEntries([...now].filter(([name]) => name.includes('echo') && !name.includes('_bucket')))).toEqual({
      'parley_sessions_started_total{bot="echo"}': 1,
      'parley_sessions_ended_total{bot="echo",end="bot_end"}': 1,
      'parley_sessions_open{bot="echo"}': 0,
      'parley_session_duration_seconds_sum{bot="echo"}': 45,
      'parley_session_duration_seconds_count{bot="echo"}': 1,
      'parley_turns_ended_total{bot="echo",end="interrupted"}': 1,
      'parley_turns_open{bot="echo"}': 0,
      'parley_reply_latency_seconds_sum{bot="echo"}': 0.24,
      'parley_reply_latency_seconds_count{bot="echo"}': 1,
      'parley_barge_ins_total{bot="echo"}': 1,
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
      metrics.sessions.sessionStarted(call);
      metrics.sessions.turnStarted(call, id);
      metrics.sessions.replyStarted(call, id, 1);
      metrics.sessions.bargeIn(call, id);
      metrics.sessions.botFailed(call, id, new AppError('bot_failed', id));
      metrics.sessions.turnEnded(call, id, 'failed');
      metrics.sessions.sessionEnded(call, 'failed');
    };
    fire('CANARY');
    const before = (await samples(metrics)).size;
    for (let index = 0; index < 500; index++) fire(String(index));
    const now = await samples(metrics);
    expect(now.size).toBe(before);
    expect(now.get('parley_sessions_started_total{bot="other"}')).toBe(501);
    expect(await metrics.text()).not.toMatch(/CANARY|conv-|bot-/u);
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

  it('measures the process in a registry of its own, as often as it is made', async () => {
    const first = createMetrics({ knownBots: [], clock });
    const second = createMetrics({ knownBots: [], clock });
    expect(await first.text()).toContain('process_resident_memory_bytes');
    expect(await second.text()).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(first.contentType).toMatch(/^text\/plain/u);
  });
});
