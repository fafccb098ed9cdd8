// Metrics of prompts without audio and of speech services. Labels come from closed sets.
import type { Registry } from 'prom-client';
import { CIRCUIT_STATES, type CircuitState } from '../base/circuit-breaker.ts';
import type { ErrorCode } from '../base/errors.ts';
import { REQUEST_OUTCOMES, type RequestOutcome } from '../base/http-exchange.ts';
import { MetricMaker } from './metric-maker.ts';

const SERVICES = ['recognizer', 'recognition_stream', 'synthesizer'] as const;
type Service = (typeof SERVICES)[number];

const DURATION_BUCKETS_S = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 60];

export interface VoiceMetrics {
  promptFailed(kind: 'text' | 'file', code: ErrorCode): void;
  requestEnded(service: Service, outcome: RequestOutcome, durationMs: number): void;
  requestRetried(service: Service): void;
  circuitChanged(service: Service, state: CircuitState): void;
}

/** Creates the metrics in a registry. */
export function voiceMetrics(registry: Registry): VoiceMetrics {
  const make = new MetricMaker(registry);
  const failed = make.counter('parley_prompts_failed_total', 'Prompts that had no audio or broke off.', {
    kind: [],
    code: [],
  });
  const requests = make.counter('parley_speech_requests_total', 'Requests to speech services.', {
    service: SERVICES,
    outcome: REQUEST_OUTCOMES,
  });
  const retries = make.counter('parley_speech_retries_total', 'Retried requests to speech services.', { service: SERVICES });
  const duration = make.histogram(
    'parley_speech_request_duration_seconds',
    'Duration of requests to speech services, waiting included.',
    DURATION_BUCKETS_S,
    { service: SERVICES },
  );
  // Every process has its own circuit: the joined gauge is 1 for each state that any process has.
  const circuit = make.gauge('parley_speech_circuit_state', '1 for the current state of the circuit, else 0.', {
    labels: { service: SERVICES, state: CIRCUIT_STATES },
    aggregator: 'max',
  });
  const circuitChanged = (service: Service, now: CircuitState): void => {
    for (const state of CIRCUIT_STATES) circuit.set({ service, state }, state === now ? 1 : 0);
  };
  for (const service of SERVICES) circuitChanged(service, 'closed');
  failed.inc({ kind: 'text', code: 'synthesis_failed' }, 0);
  failed.inc({ kind: 'file', code: 'prompt_unusable' }, 0);
  return {
    promptFailed(kind, code) {
      failed.inc({ kind, code });
    },
    requestEnded(service, outcome, durationMs) {
      requests.inc({ service, outcome });
      duration.observe({ service }, durationMs / 1000);
    },
    requestRetried(service) {
      retries.inc({ service });
    },
    circuitChanged,
  };
}
