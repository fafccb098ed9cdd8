// Creates the metrics of a registry.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The values of each label; an empty list when they are known only later. */
type Labels<Name extends string> = Readonly<Record<Name, readonly string[]>>;

interface GaugeOptions<Label extends string> {
  readonly labels?: Labels<Label>;
  /** How the values of several processes are joined; default `sum`. */
  readonly aggregator?: 'sum' | 'max' | 'min';
  /** The initial value; default 0. */
  readonly starts?: number;
  /** Sets the values each time the metrics are read; then there is no initial value. */
  readonly collect?: (gauge: Gauge<Label>) => void;
}

/** Makes metrics in one registry. Every combination of label values exists from the start: otherwise rates would miss the first event. */
export class MetricMaker {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<Label extends string = never>(name: string, help: string, labels?: Labels<Label>): Counter<Label> {
    const counter = new Counter<Label>({ name, help, labelNames: namesOf(labels), registers: this.#registers });
    for (const values of combinations(labels)) counter.inc(values, 0);
    return counter;
  }

  gauge<Label extends string = never>(name: string, help: string, options: GaugeOptions<Label> = {}): Gauge<Label> {
    const { labels, aggregator = 'sum', starts = 0, collect } = options;
    const gauge = new Gauge<Label>({
      ...{ name, help, aggregator, labelNames: namesOf(labels), registers: this.#registers },
      collect: () => {
        collect?.(gauge);
      },
    });
    if (collect === undefined) for (const values of combinations(labels)) gauge.set(values, starts);
    return gauge;
  }

  /** @param buckets - upper bounds, ascending. */
  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: Labels<Label>,
  ): Histogram<Label> {
    const labelNames = namesOf(labels);
    const histogram = new Histogram<Label>({ name, help, labelNames, buckets: [...buckets], registers: this.#registers });
    if (labels !== undefined) for (const values of combinations(labels)) histogram.zero(values);
    return histogram;
  }
}

function namesOf<Label extends string>(labels: Labels<Label> | undefined): Label[] {
  // The keys of a record are its labels.
  return Object.keys(labels ?? {}) as Label[];
}

/** One set of labels for each combination of values; a single empty one when there are no labels. */
function combinations<Label extends string>(labels: Labels<Label> | undefined): Partial<Record<Label, string>>[] {
  return namesOf(labels).reduce<Partial<Record<Label, string>>[]>(
    (sets, label) => sets.flatMap((set) => (labels?.[label] ?? []).map((value) => ({ ...set, [label]: value }))),
    [{}],
  );
}
