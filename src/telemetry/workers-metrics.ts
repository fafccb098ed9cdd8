// Joins the metrics of the workers and counts the workers. Counts of ended workers are kept, because a falling sum would
// look like a restart.
import { AggregatorRegistry, collectDefaultMetrics, Registry, type Counter } from 'prom-client';
import { MetricMaker } from './metric-maker.ts';
import type { MetricReading } from './metrics.ts';
import { processMetrics, type ProcessFacts } from './process-metrics.ts';

/** Number of workers by state. */
export type WorkerCounts = Readonly<Record<'ready' | 'starting', number>>;

/** Joins the readings of the workers with the metrics of the parent process. */
export class WorkersMetrics {
  readonly #own = new Registry();
  readonly #unexpectedEnds: Counter;
  /** The last reading of each running worker. */
  readonly #last = new Map<number, MetricReading>();
  /** The last counts of ended workers. */
  #ended: Promise<MetricReading> = Promise.resolve([]);
  readonly contentType = this.#own.contentType;

  /** @param self - the parent process, which is ready while a worker is. */
  constructor(counts: () => WorkerCounts, self: ProcessFacts) {
    const make = new MetricMaker(this.#own);
    make.gauge('parley_workers', 'Worker processes.', {
      labels: { state: [] },
      collect: (gauge) => {
        for (const [state, count] of Object.entries(counts())) gauge.set({ state }, count);
      },
    });
    this.#unexpectedEnds = make.counter('parley_workers_ended_total', 'Worker processes that ended unexpectedly and were replaced.');
    processMetrics(this.#own, self);
    collectDefaultMetrics({ register: this.#own });
  }

  /** Stores the reading of a worker. */
  read(worker: number, reading: MetricReading): void {
    this.#last.set(worker, reading.map(withJoining));
  }

  /** A worker has ended. Its counts since the last reading are lost. */
  ended(worker: number, isExpected: boolean): void {
    if (!isExpected) this.#unexpectedEnds.inc();
    // The type is declared as a number, but is a string at runtime.
    const counted = this.#last.get(worker)?.filter(({ type }) => ['counter', 'histogram'].includes(String(type))) ?? [];
    this.#last.delete(worker);
    this.#ended = this.#ended.then((before) => AggregatorRegistry.aggregate([before, counted]).getMetricsAsJSON());
  }

  /** All metrics in the text format of Prometheus, with the last reading of each worker. */
  async text(): Promise<string> {
    const own = (await this.#own.getMetricsAsJSON()).map(withJoining);
    const ended = await this.#ended;
    return AggregatorRegistry.aggregate([own, ...this.#last.values(), ended]).metrics();
  }
}

/** Corrects the library's joining, which would drop the start time of processes and average the delays, hiding a slow process. */
function withJoining(metric: MetricReading[number]): MetricReading[number] {
  if (metric.aggregator === 'omit') return { ...metric, aggregator: 'min' };
  return metric.aggregator === 'average' ? { ...metric, aggregator: 'max' } : metric;
}
