// The metrics of several processes as one text. What processes counted that have ended stays counted: a sum that fell would
// look like a restart, after which everything counts as new. Which processes there are it does not know.
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { MetricReading } from './metrics.ts';

type Metric = MetricReading[number];

/** Joins readings. */
export class JoinedMetrics {
  /** The last reading of each process that has not ended. */
  readonly #last = new Map<number, MetricReading>();
  /** What ended processes had counted when they were last read. */
  #ended: MetricReading = [];
  /** Additions to it run one after the other. */
  #adding: Promise<void> = Promise.resolve();

  /** A process was read. */
  read(process: number, reading: MetricReading): void {
    this.#last.set(process, reading);
  }

  /** A process has ended. Whatever it counted after its last reading is lost. */
  gone(process: number): void {
    const last = this.#last.get(process);
    this.#last.delete(process);
    if (last === undefined) return;
    this.#adding = this.#adding.then(async () => {
      this.#ended = await joined([this.#ended, last.filter(isCounted)]).getMetricsAsJSON();
    });
  }

  /** All of them in the text format of Prometheus, a process that could not be read this time as it was the last time. */
  async text(): Promise<string> {
    await this.#adding;
    return joined([...this.#last.values(), this.#ended]).metrics();
  }
}

function joined(readings: readonly MetricReading[]): Registry {
  return AggregatorRegistry.aggregate(readings.map((reading) => reading.map(withJoining)));
}

function isCounted({ type }: Metric): boolean {
  // The declared type is a number; what comes is a word.
  return ['counter', 'histogram'].includes(String(type));
}

/**
 * What is said of the process itself has been declared by the library: its starting times are left out, so the first one stands
 * for all; and of the delays of its event loop the mean is taken, in which one late process would disappear among idle ones.
 */
function withJoining(metric: Metric): Metric {
  if (metric.aggregator === 'omit') return { ...metric, aggregator: 'min' };
  return metric.aggregator === 'average' ? { ...metric, aggregator: 'max' } : metric;
}
