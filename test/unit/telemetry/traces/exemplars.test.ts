// From metrics to traces: the text with exemplars, as Prometheus asks for it.
import { expect, it } from 'vitest';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { Exemplars } from '../../../../src/telemetry/traces/exemplars.ts';
import { CALM, callFacts } from '../../../support/call-events.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('has the latest traced reply of each bucket, and is OpenMetrics', async () => {
  const clock = new FakeClock();
  const metrics = createMetrics({ knownBots: ['echo'], clock, load: CALM, processMetrics: false });
  const exemplars = new Exemplars(clock);
  for (const [latencyMs, trace] of [
    [120, 'a'],
    [200, 'b'],
    [60_000, 'c'],
  ] as const) {
    metrics.sessions.replyStarted(callFacts(), 't', latencyMs, 0);
    exemplars.note('echo', latencyMs, trace.repeat(32));
  }
  const text = await metrics.text();
  const lines = exemplars.openMetrics(text).split('\n');
  const bucket = (le: string): unknown => lines.find((line) => line.startsWith(`parley_reply_latency_seconds_bucket{le="${le}",`));
  expect(bucket('0.2')).toBe(`parley_reply_latency_seconds_bucket{le="0.2",bot="echo"} 2 # {trace_id="${'b'.repeat(32)}"} 0.2 1800000000`);
  expect(bucket('+Inf')).toMatch(/ 3 # \{trace_id="c+"\} 60 1800000000$/u);
  expect(bucket('0.1')).toMatch(/ 0$/u);
  expect(lines).toContain('# TYPE parley_sessions_started counter');
  expect(lines).toContain('parley_sessions_started_total{bot="echo"} 0');
  expect(lines.slice(-2)).toEqual(['# EOF', '']);
  expect(lines.slice(0, -1)).not.toContain('');
  // Nothing is lost of what the text has, but for its empty lines.
  expect(lines.length).toBe(text.split('\n').filter((line) => line !== '').length + 2);
});
