// The result of many runs: the rate of passed runs with its confidence interval, and how long callers waited.
import { percentile, type RunFacts } from './verdict.ts';

/** One run. `unjudged`: the judge failed; `broken`: the caller's model or the bot failed. Neither counts as passed. */
export interface EvaluatedRun extends RunFacts {
  readonly verdict: 'passed' | 'failed' | 'vetoed' | 'unjudged' | 'broken';
  /** Why the run has not passed. */
  readonly why: readonly string[];
  /** Set when a recording was written: its file. */
  readonly recording?: string;
}

/** The result of all runs. */
export interface Evaluated extends Rate {
  /** In the order in which they began. */
  readonly runs: readonly EvaluatedRun[];
  /** How long callers waited for answers, ms. */
  readonly answerMs: { readonly least: number; readonly p50: number; readonly p95: number; readonly most: number };
  /** Tokens of the caller's model and of the judge's, input and output. */
  readonly tokens: number;
  /** The figures as text, and each run that has not passed with its transcript. */
  toString(): string;
}

/** How many of some runs have passed. */
export interface Rate {
  readonly passed: number;
  /** Share of passed runs, 0 to 1. */
  readonly rate: number;
  /** 95 % confidence interval of the rate (Wilson). */
  readonly interval: { readonly low: number; readonly high: number };
}

/** The 97.5th percentile of the standard normal distribution. */
const Z_95 = 1.96;

export function evaluatedOf(runs: readonly EvaluatedRun[], tokens: number): Evaluated {
  const waits = runs.flatMap(({ answerMs }) => answerMs);
  const [least, p50, p95, most] = [0, 0.5, 0.95, 1].map((part) => percentile(waits, part));
  const figures = {
    ...{ runs, tokens, ...rateOf(runs) },
    answerMs: { least: least ?? 0, p50: p50 ?? 0, p95: p95 ?? 0, most: most ?? 0 },
  };
  return { ...figures, toString: () => described(figures) };
}

/** The rate of these runs. Without runs, the interval is 0 to 1. */
export function rateOf(runs: readonly EvaluatedRun[]): Rate {
  const passed = runs.filter(({ verdict }) => verdict === 'passed').length;
  const count = runs.length;
  if (count === 0) return { passed, rate: 0, interval: { low: 0, high: 1 } };
  const rate = passed / count;
  const z2 = Z_95 ** 2;
  const middle = (rate + z2 / (2 * count)) / (1 + z2 / count);
  const half = (Z_95 * Math.sqrt((rate * (1 - rate)) / count + z2 / (4 * count ** 2))) / (1 + z2 / count);
  return { passed, rate, interval: { low: Math.max(0, middle - half), high: Math.min(1, middle + half) } };
}

export function percent(part: number): string {
  return `${String(Math.round(part * 100))} %`;
}

/** A run as text: verdict, reasons, transcript, tools. */
export function runLines({ verdict, why, lines, tools }: EvaluatedRun, number: number): readonly string[] {
  return [
    `run ${String(number)} ${verdict}: ${why.join('; ')}`,
    ...lines.map(({ by, text }) => `  ${by.padEnd(6)}  ${text}`),
    ...tools.map(({ tool, input }) => `  tool    ${tool} ${JSON.stringify(input)}`),
  ];
}

function described({ runs, passed, interval, answerMs }: Omit<Evaluated, 'toString'>): string {
  return [
    `${String(passed)} of ${String(runs.length)} runs passed, so ${percent(interval.low)} to ${percent(interval.high)} would`,
    `answers took ${String(answerMs.p50)} ms, ${String(answerMs.p95)} ms at most in 95 of 100`,
    ...runs.flatMap((run, index) => (run.verdict === 'passed' ? [] : ['', ...runLines(run, index + 1)])),
  ].join('\n');
}
