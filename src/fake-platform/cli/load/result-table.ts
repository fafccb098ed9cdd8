// A measured load as text for people: what callers heard, what went wrong, and whether the figures are valid.
import pc from 'picocolors';
import { criterionText, unitOf, type Checked } from '../../load/criteria.ts';
import { type LoadResult, type Times, TIMES } from '../../load/load-result.ts';
import { alignedRows } from '../../../base/terminal/table.ts';
import type { LoadProgress } from '../../load/load-run.ts';

export function progressText({ live, perSecond, finished, failed, firstAudio, reply }: LoadProgress): string {
  const times = (name: string, { count, p50, p99 }: { count: number; p50: number; p99: number }): string =>
    count === 0 ? '' : `${name} ${p50.toFixed(0)}/${p99.toFixed(0)} ms`;
  return [
    `live ${String(live)}`,
    `${perSecond.toFixed(1)}/s`,
    `over ${String(finished)}`,
    `failed ${String(failed)}`,
    times('first audio p50/p99', firstAudio.percentiles),
    times('reply', reply.percentiles),
  ]
    .filter((part) => part !== '')
    .join('  ');
}

/** A time as minutes and seconds. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}`;
}

export const TIME_HEADS = ['ms', 'count', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'max'] as const;

export function resultText(result: LoadResult, checked: readonly Checked[], isColoured: boolean): string {
  const colors = pc.createColors(isColoured);
  const lines = [
    `${result.target}  ${result.asked}`,
    `${result.arrivals} arrivals, seed ${String(result.seed)}, counted from ${seconds(result.countedFromS)} to ${seconds(result.countedToS)}`,
    '',
    alignedRows(callRows(result)).trimEnd(),
    '',
    alignedRows([TIME_HEADS, ...timeRows(result)]).trimEnd(),
    ...levelLines(result),
    ...problemLines(result).map((line) => colors.red(line)),
    ...(checked.length === 0 ? [] : ['', ...checked.map((each) => checkedLine(each, colors))]),
    '',
    ...verdictLines(result, colors),
  ];
  return lines.join('\n');
}

function callRows(result: LoadResult): readonly (readonly string[])[] {
  const { calls, turns, sound, gapsOver100Ms, scenarios, server, workers } = result;
  const cpu = Math.max(0, ...workers.map((worker) => worker.cpu));
  const lateMs = Math.max(0, ...workers.map(({ timerLateness }) => timerLateness.p99));
  return [
    [
      'calls',
      `${String(calls.finished)} over, ${calls.perSecond.toFixed(2)}/s, at once ${calls.meanLive.toFixed(0)} (most ${String(calls.maxLive)})`,
    ],
    ['failed calls', `${part(calls.failed, calls.finished)}, refused ${String(calls.refused)}, nothing heard on ${String(calls.unheard)}`],
    ['failed turns', `${part(turns.failed, turns.replies + turns.failed)} of ${String(turns.replies + turns.failed)}`],
    ...lostRow(result),
    [
      'sound',
      `${String(sound.compared)} replies compared, ${String(sound.wrong)} wrong, ${String(sound.short)} short, ${String(sound.unknown)} not known`,
    ],
    ['gaps > 100 ms', String(gapsOver100Ms)],
    ['scenarios', scenarios.map(({ name, weight, meanMs }) => `${name}:${String(weight)} (${seconds(meanMs / 1000)})`).join(', ')],
    ['load', `${String(workers.length)} workers, busiest ${percent(cpu)} of a core, frames late by ${lateMs.toFixed(1)} ms (p99)`],
    ...(server === null
      ? []
      : [['server', `${percent(server.cpuMean)} of a core (most ${percent(server.cpuMax)}), ${server.memoryMaxMb.toFixed(0)} MB`]]),
  ];
}

function lostRow({ turnsRepeated, turnsReopened, turnsLost }: LoadResult): readonly (readonly string[])[] {
  if (turnsRepeated + turnsReopened + turnsLost === 0) return [];
  const counts = `${String(turnsRepeated)} said again, ${String(turnsReopened)} opened again with nothing said, ${String(turnsLost)} for good`;
  return [['lost turns', counts]];
}

function timeRows(result: LoadResult): readonly (readonly string[])[] {
  return TIMES.filter(({ key }) => result[key].count > 0).map(({ label, key }) => timeRow(label, result[key]));
}

/** Count, mean, percentiles and maximum, in the order of {@link TIME_HEADS}. */
export function timeRow(label: string, { count, mean, p50, p90, p99, p999, max }: Times): readonly string[] {
  return [label, String(count), ...[mean, p50, p90, p99, p999, max].map(milliseconds)];
}

function levelLines({ levels }: LoadResult): readonly string[] {
  if (levels.length === 0) return [];
  const heads = ['each level', 'calls', 'at once', '/s', 'failed', 'failed turns', 'first audio p50', 'p99', 'reply p50', 'p99', 'gaps'];
  const rows = levels.map(({ name, calls, turns, firstAudio, reply, gapsOver100Ms }) => [
    name,
    ...[String(calls.finished), calls.meanLive.toFixed(0), calls.perSecond.toFixed(2), String(calls.failed), String(turns.failed)],
    ...[firstAudio, reply].flatMap(({ count, p50, p99 }) => (count === 0 ? ['-', '-'] : [milliseconds(p50), milliseconds(p99)])),
    String(gapsOver100Ms),
  ]);
  return ['', alignedRows([heads, ...rows]).trimEnd()];
}

function problemLines({ failures, breaches }: LoadResult): readonly string[] {
  const rules = Object.entries(breaches).map(([rule, count]) => `${rule} broken ${String(count)} times`);
  const lines = [...failures.map(({ code, count, example }) => `${code}: ${String(count)} times, such as: ${example}`), ...rules];
  return lines.length === 0 ? [] : ['', ...lines];
}

/** One condition and the measured value. */
export function checkedLine({ criterion, value, holds }: Checked, colors = pc.createColors(false)): string {
  const found = value === undefined ? 'not measured' : `${milliseconds(value)}${unitOf(criterion)}`;
  const left = value === undefined || criterion.below === 0 ? '' : `, ${percent(1 - value / criterion.below)} left`;
  const line = `${holds ? 'holds' : 'FAILS'}  ${criterionText(criterion)}: ${found}${holds ? left : ''}`;
  return holds ? colors.green(line) : colors.red(line);
}

function verdictLines(
  { saturated, saturation, doubts, interrupted, calls }: LoadResult,
  colors: ReturnType<typeof pc.createColors>,
): readonly string[] {
  if (saturated) {
    return [
      colors.red('no result: the load did not do what was asked of it, so the figures are its own and not the server’s'),
      ...saturation.map((reason) => `  ${reason}`),
      '  Use more workers or another machine, or ask for less.',
    ];
  }
  const doubtful = doubts.map((doubt) => colors.yellow(`beware: ${doubt}`));
  if (interrupted) return [...doubtful, colors.yellow(`broken off; ${String(calls.brokenOff)} calls were hung up and do not count`)];
  if (calls.finished === 0) return [colors.red('no call was over in the time that counts')];
  return [
    ...doubtful,
    calls.failed === 0 ? colors.green('measured') : colors.yellow(`measured, with ${String(calls.failed)} failed calls`),
  ];
}

function part(count: number, of: number): string {
  return `${String(count)} (${of === 0 ? '0' : ((count / of) * 100).toFixed(2)} %)`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(0)} %`;
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}

/** A time in a table, with three digits. */
export function milliseconds(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2);
}
