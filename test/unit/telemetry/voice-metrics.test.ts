import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { CIRCUIT_STATES } from '../../../src/base/circuit-breaker.ts';
import { REQUEST_OUTCOMES } from '../../../src/base/http-exchange.ts';
import { voiceMetrics } from '../../../src/telemetry/voice-metrics.ts';

async function valuesOf(registry: Registry, name: string): Promise<Record<string, number>> {
  const metric = await registry.getSingleMetric(name)?.get();
  return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

describe('voiceMetrics', () => {
  it('shows every service and outcome with 0 before the first request', async () => {
    const registry = new Registry();
    voiceMetrics(registry);
    const requests = await valuesOf(registry, 'parley_speech_requests_total');
    expect(Object.keys(requests)).toHaveLength(3 * REQUEST_OUTCOMES.length);
    expect(new Set(Object.values(requests))).toEqual(new Set([0]));
    expect(await valuesOf(registry, 'parley_speech_retries_total')).toEqual({ recognizer: 0, recognition_stream: 0, synthesizer: 0 });
    expect(await valuesOf(registry, 'parley_prompts_failed_total')).toEqual({ 'text synthesis_failed': 0, 'file prompt_unusable': 0 });
  });

  it('counts requests, retries and prompts, and takes their time', async () => {
    const registry = new Registry();
    const metrics = voiceMetrics(registry);
    metrics.requestEnded('recognizer', 'ok', 250);
    metrics.requestEnded('recognizer', 'timeout', 5000);
    metrics.requestRetried('synthesizer');
    metrics.promptFailed('text', 'synthesis_failed');
    expect(await valuesOf(registry, 'parley_speech_requests_total')).toMatchObject({ 'recognizer ok': 1, 'recognizer timeout': 1 });
    expect(await valuesOf(registry, 'parley_speech_retries_total')).toMatchObject({ synthesizer: 1 });
    expect(await valuesOf(registry, 'parley_prompts_failed_total')).toMatchObject({ 'text synthesis_failed': 1 });
    expect(await registry.metrics()).toContain('parley_speech_request_duration_seconds_sum{service="recognizer"} 5.25');
  });

  it('is in exactly one state of the circuit at a time', async () => {
    const registry = new Registry();
    const metrics = voiceMetrics(registry);
    for (const state of CIRCUIT_STATES) {
      metrics.circuitChanged('synthesizer', state);
      const values = await valuesOf(registry, 'parley_speech_circuit_state');
      expect(CIRCUIT_STATES.map((one) => values[`synthesizer ${one}`])).toEqual(CIRCUIT_STATES.map((one) => (one === state ? 1 : 0)));
      expect(values['recognizer closed']).toBe(1);
    }
  });
});
