// The metrics of several processes as one text, and how many of them there are. What a worker counted that has ended stays
// counted: a sum that fell would look like a restart, after which everything counts as new.
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { MetricReading } from './metrics.ts';

/** Workers that take calls, and those that start. */
export type WorkerCounts = Readonly<Record<'ready' | 'starting', number>>;

/** Joins what workers read of themselves, and what this process, which starts them, sees. */
export class WorkersMetrics {
  readonly #own = new Registry();
  readonly #unexpectedEnds: Counter;
  /** The last reading of each worker that has not ended. */
  readonly #last = new Map<number, MetricReading>();
  /** What the others had counted when they were last read. */
  #ended: Promise<MetricReading> = Promise.resolve([]);
  readonly contentType = this.#own.contentType;

  constructor(counts: () => WorkerCounts) {
    const registers = [this.#own];
    new Gauge({
      name: 'parley_workers',
      help: 'Worker processes, by what they do now.',
      labelNames: ['state'],
      registers,
      collect() {
        for (const [state, count] of Object.entries(counts())) this.set({ state }, count);
      },
    });
    this.#unexpectedEnds = new Counter({
      name: 'parley_workers_ended_total',
      help: 'Worker processes that ended although nobody had asked them to, and were replaced.',
      registers,
    });
    collectDefaultMetrics({ register: this.#own });
  }

  /** A worker was read. */
  read(worker: number, reading: MetricReading): void {
    this.#last.set(worker, reading.map(withJoining));
  }

  /** A worker has ended. Whatever it counted after its last reading is lost. */
  ended(worker: number, isExpected: boolean): void {
    if (!isExpected) this.#unexpectedEnds.inc();
    // The declared type is a number; what comes is a word.
    const counted = this.#last.get(worker)?.filter(({ type }) => ['counter', 'histogram'].includes(String(type))) ?? [];
    this.#last.delete(worker);
    this.#ended = this.#ended.then((before) => AggregatorRegistry.aggregate([before, counted]).getMetricsAsJSON());
  }

  /** All of them in the text format of Prometheus, a worker that could not be read this time as it was the last time. */
  async text(): Promise<string> {
    const own = (await this.#own.getMetricsAsJSON()).map(withJoining);
    const ended = await this.#ended;
    return AggregatorRegistry.aggregate([own, ...this.#last.values(), ended]).metrics();
  }
}

/** The library would leave out when a process started, and show the mean of event loops, in which a late one would disappear. */
function withJoining(metric: MetricReading[number]): MetricReading[number] {
  if (metric.aggregator === 'omit') return { ...metric, aggregator: 'min' };
  return metric.aggregator === 'average' ? { ...metric, aggregator: 'max' } : metric;
}
