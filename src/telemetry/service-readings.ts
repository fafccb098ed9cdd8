// Readings of speech services and language models, taken from the metrics, for people. Knows no service.
import { CIRCUIT_STATES, type CircuitState } from '../base/circuit-breaker.ts';
import type { MetricReading } from './metrics.ts';
import { quantile } from './quantiles.ts';

/** Counts of one service in one process, since its start. */
export interface ServiceReading {
  readonly kind: 'speech' | 'model';
  readonly name: string;
  readonly circuit?: CircuitState;
  readonly requests: number;
  readonly failed: number;
  readonly retried: number;
  /** Upper bounds of the buckets, seconds. `counts`: observations in each bucket, one more than there are bounds. */
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

/** The reading of a service joined over several processes. */
export type JoinedService = Omit<ServiceReading, 'bounds' | 'counts'> & { readonly p50Ms?: number; readonly p95Ms?: number };

interface Value {
  readonly value: number;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly metricName?: string;
}

/** The services in a reading: every speech service, and the models that were used. */
export function servicesIn(reading: MetricReading): readonly ServiceReading[] {
  // The library's types lack the name that every value of a histogram has.
  const valuesOf = (name: string): readonly Value[] => reading.find((metric) => metric.name === name)?.values ?? [];
  const circuits = valuesOf('parley_speech_circuit_state');
  const speech = namesIn(circuits, 'service').map((name): ServiceReading => {
    const outcomes = valuesOf('parley_speech_requests_total').filter(({ labels }) => labels['service'] === name);
    const state = circuits.find(({ labels, value }) => labels['service'] === name && value === 1)?.labels['state'];
    const circuit = CIRCUIT_STATES.find((each) => each === state);
    return {
      ...{ kind: 'speech', name, requests: sumOf(outcomes) },
      ...(circuit !== undefined && { circuit }),
      failed: sumOf(outcomes.filter(({ labels }) => labels['outcome'] !== 'ok' && labels['outcome'] !== 'cancelled')),
      retried: sumOf(valuesOf('parley_speech_retries_total').filter(({ labels }) => labels['service'] === name)),
      ...bucketsOf(valuesOf('parley_speech_request_duration_seconds').filter(({ labels }) => labels['service'] === name)),
    };
  });
  const tokens = valuesOf('parley_ai_first_token_seconds');
  const models = namesIn(tokens, 'model').map((name): ServiceReading => {
    const { bounds, counts } = bucketsOf(tokens.filter(({ labels }) => labels['model'] === name));
    return { kind: 'model', name, requests: counts.reduce((sum, count) => sum + count, 0), failed: 0, retried: 0, bounds, counts };
  });
  return [...speech, ...models];
}

/** The sum over several processes, with the worst circuit. */
export function joinedServices(seen: readonly (readonly ServiceReading[])[]): readonly JoinedService[] {
  const all = seen.flat();
  const isSame = (one: ServiceReading, other: ServiceReading): boolean => one.kind === other.kind && one.name === other.name;
  const firsts = all.filter((one, index) => all.findIndex((other) => isSame(one, other)) === index);
  return firsts.map((first) => {
    const { kind, name, bounds } = first;
    const same = all.filter((one) => isSame(one, first));
    const total = (key: 'requests' | 'failed' | 'retried'): number => same.reduce((sum, one) => sum + one[key], 0);
    const counts = first.counts.map((_, bucket) => same.reduce((sum, one) => sum + (one.counts[bucket] ?? 0), 0));
    const circuit = WORST_FIRST.find((state) => same.some((one) => one.circuit === state));
    const [p50, p95] = [quantile(0.5, bounds, counts), quantile(0.95, bounds, counts)];
    return {
      ...{ kind, name, requests: total('requests'), failed: total('failed'), retried: total('retried') },
      ...(circuit !== undefined && { circuit }),
      ...(p50 !== undefined && p95 !== undefined && { p50Ms: Math.round(p50 * 1000), p95Ms: Math.round(p95 * 1000) }),
    };
  });
}

const WORST_FIRST = ['open', 'half_open', 'closed'] as const satisfies readonly CircuitState[];

function namesIn(values: readonly Value[], label: string): readonly string[] {
  return [...new Set(values.map(({ labels }) => String(labels[label])))];
}

function sumOf(values: readonly Value[]): number {
  return values.reduce((sum, { value }) => sum + value, 0);
}

/** Observations per bucket. The library counts, for each bound, all observations up to it. */
function bucketsOf(values: readonly Value[]): Pick<ServiceReading, 'bounds' | 'counts'> {
  const upTo = new Map<number, number>();
  for (const { labels, value, metricName } of values) {
    if (metricName?.endsWith('_bucket') !== true) continue;
    const bound = Number(labels['le'] === '+Inf' ? Infinity : labels['le']);
    upTo.set(bound, (upTo.get(bound) ?? 0) + value);
  }
  const bounds = [...upTo.keys()].sort((one, other) => one - other);
  const counts = bounds.map((bound, index) => (upTo.get(bound) ?? 0) - (upTo.get(bounds[index - 1] ?? NaN) ?? 0));
  return { bounds: bounds.filter(Number.isFinite), counts };
}
