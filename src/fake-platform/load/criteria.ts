// The conditions of a load, written as one expression such as `first-audio p99 < 300ms, failed < 0.1%`, and whether a result meets them.
// Pure: knows results only.
import { type LoadResult, COUNTS, TIMES } from './load-result.ts';

const STATISTICS = { p50: 'p50', p90: 'p90', p99: 'p99', 'p99.9': 'p999', max: 'max', mean: 'mean' } as const;
type Statistic = keyof typeof STATISTICS;

/** The names that an expression can use, for the help. */
export const CRITERIA_HELP = `times (p50, p90, p99, p99.9, max, mean): ${namesOf(TIMES)}
counts (a number, or % of all): ${namesOf(COUNTS)}
of the server, with --metrics: server-cpu (% of a core), server-memory (MB)`;

export type Criterion = { readonly below: number; readonly orEqual: boolean } & (
  | { readonly kind: 'time'; readonly metric: string; readonly statistic: Statistic }
  | { readonly kind: 'count' | 'share'; readonly metric: string }
  | { readonly kind: 'server'; readonly metric: 'server-cpu' | 'server-memory' }
);

/** A condition and the measured value. */
export interface Checked {
  readonly criterion: Criterion;
  /** The measured value in the unit of the criterion: ms, a count, %, or MB. Undefined: nothing was measured. */
  readonly value: number | undefined;
  readonly holds: boolean;
}

/** Reads an expression. @throws RangeError with a sentence for the user. */
export function parseCriteria(text: string): readonly Criterion[] {
  return text.split(/,|\band\b/u).map((part) => criterionOf(part.trim()));
}

function criterionOf(text: string): Criterion {
  const parts =
    /^(?<metric>[a-z-]+)(?:\s+(?<statistic>p\d+(?:\.\d+)?|max|mean))?\s*(?<sign><=?)\s*(?<number>\d+(?:\.\d+)?)\s*(?<unit>ms|s|%|MB)?$/u.exec(
      text,
    )?.groups;
  const refuse = (why: string): never => {
    throw new RangeError(`"${text}" is no condition: ${why}`);
  };
  if (parts === undefined) return refuse('write for instance first-audio p99 < 300ms, or failed < 0.1%');
  const { metric = '', statistic, unit = '' } = parts;
  const limit = { below: Number(parts['number']), orEqual: parts['sign'] === '<=' };
  if (TIMES.some(({ name }) => name === metric)) {
    if (statistic === undefined || !isStatistic(statistic)) return refuse(`say which of ${Object.keys(STATISTICS).join(', ')}`);
    if (unit !== 'ms' && unit !== 's') return refuse('a time needs ms or s');
    return { kind: 'time', metric, statistic, ...limit, below: unit === 's' ? limit.below * 1000 : limit.below };
  }
  if (statistic !== undefined) return refuse(`${metric} has no ${statistic}`);
  if (COUNTS.some(({ name }) => name === metric)) {
    if (unit !== '' && unit !== '%') return refuse('a count is a number or a %');
    return { kind: unit === '%' ? 'share' : 'count', metric, ...limit };
  }
  if (metric === 'server-cpu') return unit === '%' ? { kind: 'server', metric, ...limit } : refuse('it is a %');
  if (metric === 'server-memory') return unit === 'MB' ? { kind: 'server', metric, ...limit } : refuse('it is in MB');
  return refuse(`there is no ${metric}; there are ${namesOf([...TIMES, ...COUNTS])}, server-cpu and server-memory`);
}

function namesOf(figures: readonly { readonly name: string }[]): string {
  return figures.map(({ name }) => name).join(', ');
}

function isStatistic(text: string): text is Statistic {
  return Object.hasOwn(STATISTICS, text);
}

/** A condition as the user writes it. */
export function criterionText(criterion: Criterion): string {
  const { metric, below, orEqual } = criterion;
  const statistic = criterion.kind === 'time' ? ` ${criterion.statistic}` : '';
  return `${metric}${statistic} ${orEqual ? '<=' : '<'} ${String(below)}${unitOf(criterion)}`;
}

export function unitOf({ kind, metric }: Criterion): string {
  if (kind === 'server') return metric === 'server-cpu' ? '%' : 'MB';
  return kind === 'time' ? 'ms' : kind === 'share' ? '%' : '';
}

/** Checks a result. A criterion whose value was not measured fails. */
export function checkCriteria(criteria: readonly Criterion[], result: LoadResult): readonly Checked[] {
  return criteria.map((criterion) => {
    const value = valueOf(criterion, result);
    const holds = value !== undefined && (value < criterion.below || (criterion.orEqual && value === criterion.below));
    return { criterion, value, holds };
  });
}

function valueOf(criterion: Criterion, result: LoadResult): number | undefined {
  switch (criterion.kind) {
    case 'time': {
      const figure = TIMES.find(({ name }) => name === criterion.metric);
      return figure === undefined || result[figure.key].count === 0 ? undefined : result[figure.key][STATISTICS[criterion.statistic]];
    }
    case 'count':
    case 'share': {
      const counted = COUNTS.find(({ name }) => name === criterion.metric)?.of(result);
      // Without calls there is no share.
      if (counted === undefined || counted.of === 0) return undefined;
      return criterion.kind === 'count' ? counted.count : (counted.count / counted.of) * 100;
    }
    case 'server':
      if (result.server === null) return undefined;
      return criterion.metric === 'server-cpu' ? result.server.cpuMean * 100 : result.server.memoryMaxMb;
  }
}
