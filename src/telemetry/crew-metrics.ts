// What can be counted about the processes of a server that has several: how many of them take calls, and how many ended.
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { MetricReading } from './metrics.ts';

/** Workers by what they do. */
export interface WorkerCounts {
  /** They take calls. */
  readonly ready: number;
  readonly starting: number;
  /** They have said nothing for some seconds. */
  readonly silent: number;
}

/** Counts what the process that starts workers sees. */
export interface CrewMetrics {
  /** A worker ended that nobody had asked to. */
  workerEnded(): void;
  readonly contentType: string;
  reading(): Promise<MetricReading>;
}

/** Creates them in a registry of their own, with those of this process. */
export function createCrewMetrics(counts: () => WorkerCounts): CrewMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'parley_workers',
    help: 'Worker processes, by what they do now.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(counts())) this.set({ state }, Number(count));
    },
  });
  const ended = new Counter({
    name: 'parley_workers_ended_total',
    help: 'Worker processes that ended although nobody had asked them to, and were replaced.',
    registers,
  });
  collectDefaultMetrics({ register: registry });
  return {
    workerEnded: () => {
      ended.inc();
    },
    contentType: registry.contentType,
    reading: () => registry.getMetricsAsJSON(),
  };
}
