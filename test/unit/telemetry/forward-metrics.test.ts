// What is counted of turns that are passed on.
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { forwardMetrics } from '../../../src/telemetry/forward-metrics.ts';
import { FORWARD_OUTCOMES } from '../../../src/dialog/home.ts';
import type { RelayObserver } from '../../../src/transport/forward/relays.ts';
import { callFacts } from '../../support/call-events.ts';

it('counts forwarded turns by every outcome there is, their bytes when they end, and how long homes take', async () => {
  const registry = new Registry();
  const observer: RelayObserver = forwardMetrics(registry);
  for (const outcome of FORWARD_OUTCOMES) {
    observer.forwardOpened();
    observer.forwardEnded(outcome, { toHome: 100, toPlatform: 1000 }, { call: callFacts(), trackingId: 't', ms: 1 });
  }
  observer.forwardOpened();
  observer.homeAnswered(20);
  const lines = (await registry.metrics()).split('\n');
  expect(lines).toContain('parley_forwarded_streams_open 1');
  expect(lines.filter((line) => line.startsWith('parley_forwarded_streams_total{'))).toEqual(
    FORWARD_OUTCOMES.map((outcome) => `parley_forwarded_streams_total{outcome="${outcome}"} 1`),
  );
  expect(lines).toContain('parley_forwarded_bytes_total{direction="to_home"} 500');
  expect(lines).toContain('parley_forwarded_bytes_total{direction="to_platform"} 5000');
  expect(lines).toContain('parley_forwarded_answer_seconds_sum 0.02');
});
