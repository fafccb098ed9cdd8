// Two measured loads beside each other: what changed, by how much, and what got worse beyond what chance explains. Pure.

import { Histogram } from '../../fake-platform/load/histogram.ts';
import type { LoadResult } from '../../fake-platform/load/load-result.ts';
import { TIME_NAMES, milliseconds } from './result-table.ts';

/** One figure of both runs. */
export interface Difference {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly unit: 'ms' | '%' | 'MB' | '';
  /** `after` by `before`; undefined where there is nothing to divide by. */
  readonly ratio: number | undefined;
  /** Whether both 95 % ranges lie apart; undefined where chance has no say in the figure or its say is not known. */
  readonly isBeyondNoise: boolean | undefined;
  /** More of it is worse, and there is more of it, beyond noise. */
  readonly isWorse: boolean;
}

/** What stands side by side. */
export interface Comparison {
  readonly differences: readonly Difference[];
  /** What makes the two runs hard to compare, a sentence each. */
  readonly doubts: readonly string[];
}

const PERCENTILES = [
  ['p50', 50],
  ['p90', 90],
  ['p99', 99],
  ['p99.9', 99.9],
] as const;

/** Compares. @throws RangeError when a histogram cannot be read. */
export function compareLoads(before: LoadResult, after: LoadResult): Comparison {
  const times = TIME_NAMES.filter(([, key]) => before[key].count > 0 && after[key].count > 0).flatMap(([name, key]) => {
    const [was, is] = [Histogram.decoded(before[key].histogram), Histogram.decoded(after[key].histogram)];
    return PERCENTILES.map(([word, percent]) => timeDifference(`${name.trim()} ${word}`, was, is, percent));
  });
  const shares = [
    shareDifference('failed calls', before.calls.failed, before.calls.finished, after.calls.failed, after.calls.finished),
    shareDifference('failed turns', before.turns.failed, turnsOf(before), after.turns.failed, turnsOf(after)),
    shareDifference('gaps > 100 ms', before.gapsOver100Ms, before.gap.count, after.gapsOver100Ms, after.gap.count),
    shareDifference('wrong or short sound', badSound(before), before.sound.compared, badSound(after), after.sound.compared),
  ];
  return { differences: [...times, ...shares, ...serverDifferences(before, after)], doubts: doubtsOf(before, after) };
}

function timeDifference(name: string, was: Histogram, is: Histogram, percent: number): Difference {
  const [before, after] = [was.at(percent), is.at(percent)];
  const [wasLow, wasHigh] = was.range(percent);
  const [isLow, isHigh] = is.range(percent);
  const isBeyondNoise = isLow > wasHigh || isHigh < wasLow;
  return { name, before, after, unit: 'ms', ratio: ratioOf(before, after), isBeyondNoise, isWorse: isBeyondNoise && after > before };
}

function shareDifference(name: string, was: number, wasOf: number, is: number, isOf: number): Difference {
  const [before, after] = [percentOf(was, wasOf), percentOf(is, isOf)];
  const [wasLow, wasHigh] = shareRange(was, wasOf);
  const [isLow, isHigh] = shareRange(is, isOf);
  const isBeyondNoise = isLow > wasHigh || isHigh < wasLow;
  return { name, before, after, unit: '%', ratio: ratioOf(before, after), isBeyondNoise, isWorse: isBeyondNoise && after > before };
}

// CPU and memory are one figure of one run: how far chance moves them, two runs cannot tell.
function serverDifferences(before: LoadResult, after: LoadResult): readonly Difference[] {
  const [was, is] = [before.server, after.server];
  if (was === null || is === null) return [];
  const one = (name: string, from: number, to: number, unit: '%' | 'MB'): Difference => {
    return { name, before: from, after: to, unit, ratio: ratioOf(from, to), isBeyondNoise: undefined, isWorse: false };
  };
  return [one('server CPU', was.cpuMean * 100, is.cpuMean * 100, '%'), one('server memory', was.memoryMaxMb, is.memoryMaxMb, 'MB')];
}

/** The range of a share with 95 % confidence, in % (Wilson's, which also knows what none of a few means). */
export function shareRange(count: number, of: number): readonly [low: number, high: number] {
  if (of === 0) return [0, 100];
  const z = 1.96;
  const part = count / of;
  const middle = part + (z * z) / (2 * of);
  const spread = z * Math.sqrt((part * (1 - part)) / of + (z * z) / (4 * of * of));
  const scale = 100 / (1 + (z * z) / of);
  return [Math.max(0, (middle - spread) * scale), Math.min(100, (middle + spread) * scale)];
}

function doubtsOf(before: LoadResult, after: LoadResult): readonly string[] {
  const mixOf = ({ scenarios }: LoadResult): string => scenarios.map(({ name, weight }) => `${name}:${String(weight)}`).join(',');
  return [
    ...[before, after].flatMap(({ saturated }, index) =>
      saturated ? [`${index === 0 ? 'the first' : 'the second'} run is no result: its load was saturated`] : [],
    ),
    ...(mixOf(before) === mixOf(after) ? [] : [`other scenarios: ${mixOf(before)} and ${mixOf(after)}`]),
    ...(Math.abs(before.calls.perSecond - after.calls.perSecond) <= 0.1 * before.calls.perSecond
      ? []
      : [`other loads: ${before.calls.perSecond.toFixed(2)} and ${after.calls.perSecond.toFixed(2)} calls a second`]),
    ...(before.machine.processor === after.machine.processor && before.machine.cores === after.machine.cores
      ? []
      : ['the loads ran on other machines']),
  ];
}

/** What got worse beyond noise and by more than so many %. */
export function worseThan({ differences }: Comparison, percent: number): readonly Difference[] {
  return differences.filter(({ isWorse, ratio }) => isWorse && (ratio === undefined || ratio > 1 + percent / 100));
}

/** A row of the table: name, both values, ratio, and what to think of it. */
export function differenceRow({ name, before, after, unit, ratio, isBeyondNoise, isWorse }: Difference): readonly string[] {
  const verdict = isBeyondNoise === undefined ? '' : !isBeyondNoise ? 'within noise' : isWorse ? 'WORSE' : 'better';
  return [name, value(before, unit), value(after, unit), ratio === undefined ? '-' : `x ${ratio.toFixed(2)}`, verdict];
}

function value(number: number, unit: Difference['unit']): string {
  return `${unit === 'ms' ? milliseconds(number) : number.toFixed(2)} ${unit}`;
}

function ratioOf(before: number, after: number): number | undefined {
  if (before === after) return 1;
  return before === 0 ? undefined : after / before;
}

function percentOf(count: number, of: number): number {
  return of === 0 ? 0 : (count / of) * 100;
}

function turnsOf({ turns }: LoadResult): number {
  return turns.replies + turns.failed;
}

function badSound({ sound }: LoadResult): number {
  return sound.wrong + sound.short;
}
