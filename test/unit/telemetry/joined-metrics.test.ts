import { describe, expect, it } from 'vitest';
import { JoinedMetrics } from '../../../src/telemetry/joined-metrics.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { callFacts } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const CALL = callFacts();

/** The metrics of a process whose event loop is so late. */
function metricsOf(loopDelayMs = 0, processMetrics = false): Metrics {
  const load = { reading: () => ({ loopDelayMs, rssBytes: 0, heapPercent: 0 }) };
  return createMetrics({ knownBots: ['echo'], clock: new FakeClock(), load, processMetrics });
}

/** The lines of some samples. */
async function lines(joined: JoinedMetrics, ...names: readonly string[]): Promise<readonly string[]> {
  return (await joined.text()).split('\n').filter((line) => names.some((name) => line.startsWith(name)));
}

describe('the metrics of several processes', () => {
  it('are added up: what was counted, what is open, and each bucket of a duration', async () => {
    const joined = new JoinedMetrics();
    for (const process of [1, 2]) {
      const metrics = metricsOf();
      metrics.sessions.sessionStarted(CALL);
      metrics.sessions.replyStarted(CALL, 't', 40);
      joined.read(process, await metrics.reading());
    }
    expect(
      await lines(
        joined,
        'parley_sessions_started',
        'parley_sessions_open',
        'parley_reply_latency_seconds_bucket{le="0.05"',
        'parley_reply_latency_seconds_count',
      ),
    ).toEqual([
      'parley_sessions_started_total{bot="echo"} 2',
      'parley_sessions_open{bot="echo"} 2',
      'parley_reply_latency_seconds_bucket{le="0.05",bot="echo"} 2',
      'parley_reply_latency_seconds_count{bot="echo"} 2',
    ]);
  });

  it('show the worst of them where a sum would mean nothing', async () => {
    const joined = new JoinedMetrics();
    for (const [process, isGood] of [true, false].entries()) {
      const metrics = metricsOf(isGood ? 10 : 250);
      metrics.voice.circuitChanged('recognizer', isGood ? 'closed' : 'open');
      metrics.admin.watch(
        () => [{ transport: 'grpc', isServed: true, expiresAtMs: isGood ? 60_000 : 5000, isAlarming: !isGood }],
        () => 0,
      );
      metrics.admin.loginLooked(isGood);
      metrics.admin.storeWritten(isGood);
      if (isGood) metrics.admin.registered('authorized', 'kept');
      joined.read(process, await metrics.reading());
    }
    const names = [
      'parley_event_loop',
      'parley_data_source_token',
      'parley_integration',
      'parley_admin_store',
      'parley_webhook_registered',
    ];
    expect(await lines(joined, ...names, 'parley_data_sources', 'parley_speech_circuit_state{service="recognizer"')).toEqual([
      'parley_event_loop_delay_seconds 0.25',
      'parley_speech_circuit_state{service="recognizer",state="closed"} 1',
      'parley_speech_circuit_state{service="recognizer",state="open"} 1',
      'parley_speech_circuit_state{service="recognizer",state="half_open"} 0',
      'parley_data_sources{transport="grpc",served="yes"} 1',
      'parley_data_sources{transport="grpc",served="no"} 0',
      'parley_data_sources{transport="websocket",served="yes"} 0',
      'parley_data_sources{transport="websocket",served="no"} 0',
      'parley_data_source_token_expiry_seconds{transport="grpc"} 5',
      'parley_data_sources_alarming{transport="grpc"} 1',
      'parley_data_sources_alarming{transport="websocket"} 0',
      'parley_integration_login 0',
      'parley_admin_store_writable 0',
      'parley_webhook_registered{event="authorized"} 1',
      'parley_webhook_registered{event="deauthorized"} 0',
    ]);
  });

  it('do not fall when a process ends, one after the other, and forget what was open in it', async () => {
    const joined = new JoinedMetrics();
    for (const process of [1, 2, 3]) {
      const metrics = metricsOf();
      for (let call = 0; call < process; call += 1) metrics.sessions.sessionStarted(CALL);
      joined.read(process, await metrics.reading());
    }
    joined.gone(1);
    joined.gone(3);
    joined.gone(7);
    expect(await lines(joined, 'parley_sessions_started', 'parley_sessions_open')).toEqual([
      'parley_sessions_started_total{bot="echo"} 6',
      'parley_sessions_open{bot="echo"} 2',
    ]);
    joined.gone(2);
    expect(await lines(joined, 'parley_sessions_started')).toEqual(['parley_sessions_started_total{bot="echo"} 6']);
  });

  it('have every metric of a single process', async () => {
    const joined = new JoinedMetrics();
    const metrics = metricsOf(0, true);
    joined.read(1, await metrics.reading());
    const names = (text: string): readonly string[] => [...text.matchAll(/^# TYPE \S+ \S+$/gmu)].map(([line]) => line);
    expect(names(await joined.text())).toEqual(names(await metrics.text()));
  });
});
