// Compares two measured loads: what changed, by how much, and what got worse beyond chance. Pure.
import { Histogram } from '../../load/histogram.ts';
import { type LoadResult, COUNTS, TIMES } from '../../load/load-result.ts';
import { milliseconds } from './result-table.ts';

/** One figure of both runs. */
export interface Difference {
  readonly name: string;
  /** Undefined when the first run lacks this figure. */
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly unit: 'ms' | '%' | 'MB' | '';
  /** `after` divided by `before`; undefined where `before` is 0 or absent. */
  readonly ratio: number | undefined;
  /** Whether the 95 % ranges do not overlap; undefined for a figure without a known range. */
  readonly isBeyondNoise: boolean | undefined;
  /** Whether the figure grew beyond noise. More is worse for all figures here. */
  readonly isWorse: boolean;
}

export interface Comparison {
  readonly differences: readonly Difference[];
  /** Why the two runs are hard to compare, one sentence each. */
  readonly doubts: readonly string[];
  /** True when worse figures cannot be excluded: a run has no valid result, or the second lacks a figure of the first. */
  readonly isVoid: boolean;
}

const ORDER = ['first', 'second'] as const;

const PERCENTILES = [
  ['p50', 50],
  ['p90', 90],
  ['p99', 99],
  ['p99.9', 99.9],
] as const;

/** Compares two results. @throws RangeError when a histogram cannot be read. */
export function compareLoads(before: LoadResult, after: LoadResult): Comparison {
  const differences = [...timeDifferences(before, after), ...shareDifferences(before, after), ...serverDifferences(before, after)];
  const runs = [before, after];
  return {
    differences,
    doubts: [...doubtsOf(before, after), ...missingOf(differences)],
    isVoid:
      runs.some(({ saturated, calls }) => saturated || calls.finished === 0) ||
      differences.some((each) => each.before !== undefined && each.after === undefined),
  };
}

function timeDifferences(before: LoadResult, after: LoadResult): readonly Difference[] {
  return TIMES.filter(({ key }) => before[key].count > 0 || after[key].count > 0).flatMap(({ label, key }) => {
    const [was, is] = [before, after].map((run) => (run[key].count === 0 ? undefined : Histogram.decoded(run[key].histogram)));
    return PERCENTILES.map(([word, percent]) => {
      const figureOf = (times: Histogram | undefined): Figure | undefined =>
        times === undefined ? undefined : { value: times.at(percent), range: times.range(percent) };
      return difference(`${label.trim()} ${word}`, 'ms', figureOf(was), figureOf(is));
    });
  });
}

function shareDifferences(before: LoadResult, after: LoadResult): readonly Difference[] {
  return COUNTS.flatMap(({ label, of }) => {
    const figureOf = (run: LoadResult): Figure | undefined => {
      const { count, of: all } = of(run);
      return all === 0 ? undefined : { value: (count / all) * 100, range: shareRange(count, all) };
    };
    const [was, is] = [figureOf(before), figureOf(after)];
    return was === undefined && is === undefined ? [] : [difference(label, '%', was, is)];
  });
}

// CPU and memory have one value per run, so two runs do not show how much they vary by chance.
function serverDifferences({ server: was }: LoadResult, { server: is }: LoadResult): readonly Difference[] {
  if (was === null && is === null) return [];
  const figure = (value: number | undefined): Figure | undefined => (value === undefined ? undefined : { value });
  return [
    difference('server CPU', '%', figure(was === null ? undefined : was.cpuMean * 100), figure(is === null ? undefined : is.cpuMean * 100)),
    difference('server memory', 'MB', figure(was?.memoryMaxMb), figure(is?.memoryMaxMb)),
  ];
}

/** A figure of one run, with its 95 % confidence range. */
interface Figure {
  readonly value: number;
  readonly range?: readonly [low: number, high: number];
}

function difference(name: string, unit: Difference['unit'], was: Figure | undefined, is: Figure | undefined): Difference {
  const [before, after] = [was?.value, is?.value];
  if (before === undefined || after === undefined) {
    return { name, before, after, unit, ratio: undefined, isBeyondNoise: undefined, isWorse: false };
  }
  const isBeyondNoise = was?.range === undefined || is?.range === undefined ? undefined : areApart(was.range, is.range);
  return { name, before, after, unit, ratio: ratioOf(before, after), isBeyondNoise, isWorse: isBeyondNoise === true && after > before };
}

function areApart([wasLow, wasHigh]: readonly [number, number], [isLow, isHigh]: readonly [number, number]): boolean {
  return isLow > wasHigh || isHigh < wasLow;
}

/** The range of a share with 95 % confidence, in % (Wilson score interval, which also works for 0 of n). */
export function shareRange(count: number, of: number): readonly [low: number, high: number] {
  if (of === 0) return [0, 100];
  const z = 1.96;
  // At most 1: one reply may break several rules and be counted several times.
  const part = Math.min(1, count / of);
  const middle = part + (z * z) / (2 * of);
  const spread = z * Math.sqrt((part * (1 - part)) / of + (z * z) / (4 * of * of));
  const scale = 100 / (1 + (z * z) / of);
  return [Math.max(0, (middle - spread) * scale), Math.min(100, (middle + spread) * scale)];
}

function doubtsOf(before: LoadResult, after: LoadResult): readonly string[] {
  const mixOf = ({ scenarios }: LoadResult): string => scenarios.map(({ name, weight }) => `${name}:${String(weight)}`).join(',');
  return [
    ...[before, after].flatMap(({ saturated, interrupted, calls }, index) => {
      const run = `the ${ORDER[index] ?? ''} run`;
      return [
        ...(saturated ? [`${run} is no result: its load was saturated`] : []),
        ...(interrupted ? [`${run} was broken off`] : []),
        ...(calls.finished === 0 ? [`no call of ${run} was over in the time that counts`] : []),
      ];
    }),
    ...(mixOf(before) === mixOf(after) ? [] : [`other scenarios: ${mixOf(before)} and ${mixOf(after)}`]),
    ...(Math.abs(before.calls.perSecond - after.calls.perSecond) <= 0.1 * before.calls.perSecond
      ? []
      : [`other loads: ${before.calls.perSecond.toFixed(2)} and ${after.calls.perSecond.toFixed(2)} calls a second`]),
    ...(before.machine.processor === after.machine.processor && before.machine.cores === after.machine.cores
      ? []
      : ['the loads ran on other machines']),
  ];
}

function missingOf(differences: readonly Difference[]): readonly string[] {
  return ORDER.flatMap((_, index) => {
    const missing = differences.filter(({ before, after }) => (index === 0 ? before : after) === undefined).map(({ name }) => name);
    return missing.length === 0 ? [] : [`only the ${index === 0 ? 'second' : 'first'} run has ${missing.join(', ')}`];
  });
}

/** Figures that got worse beyond noise and by more than `percent` %. */
export function worseThan({ differences }: Comparison, percent: number): readonly Difference[] {
  return differences.filter(({ isWorse, ratio }) => isWorse && (ratio === undefined || ratio > 1 + percent / 100));
}

/** A row of the table: name, both values, ratio, and verdict. */
export function differenceRow({ name, before, after, unit, ratio, isBeyondNoise, isWorse }: Difference): readonly string[] {
  const verdict = isBeyondNoise === undefined ? '' : !isBeyondNoise ? 'within noise' : isWorse ? 'WORSE' : 'better';
  return [name, value(before, unit), value(after, unit), ratio === undefined ? '-' : `x ${ratio.toFixed(2)}`, verdict];
}

function value(number: number | undefined, unit: Difference['unit']): string {
  if (number === undefined) return '-';
  return `${unit === 'ms' ? milliseconds(number) : number.toFixed(2)} ${unit}`;
}

function ratioOf(before: number, after: number): number | undefined {
  if (before === after) return 1;
  return before === 0 ? undefined : after / before;
}
