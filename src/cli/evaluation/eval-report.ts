// The results of evaluations by voice: whether each test has passed, as text, as JSON data, and as JUnit cases.
import { createColors } from 'picocolors';
import { oneLine } from '../../base/one-line.ts';
import type { JunitCase } from '../../fake-platform/scenario/junit.ts';
import type { Eval, Price } from './eval-file.ts';
import { percent, rateOf, runLines, type Evaluated, type Rate } from './evaluated.ts';

/** How a test is judged. */
export interface Strictness {
  /** Whether unjudged runs count as not passed. Otherwise they do not count. */
  readonly isStrict: boolean;
  /** Whether the lower end of the confidence interval must reach the pass rate. Otherwise the rate itself must. */
  readonly isConfident: boolean;
}

/** The result of one test. */
export interface EvalResult {
  readonly test: Eval;
  readonly evaluated: Evaluated;
  /** Rate of the runs that count. */
  readonly rate: Rate;
  readonly counted: number;
  readonly isPassed: boolean;
  readonly tookMs: number;
  /** Price of the tokens of all models that have a price; undefined when no model has one. */
  readonly cost: number | undefined;
}

/** Tokens of one model. */
export interface Usage {
  readonly price: Price | undefined;
  readonly tokensIn: number;
  readonly tokensOut: number;
}

const MILLION = 1_000_000;
const MAX_NAME = 200;

export function evalResult(
  test: Eval,
  evaluated: Evaluated,
  { isStrict, isConfident }: Strictness,
  { tookMs, usages }: { readonly tookMs: number; readonly usages: readonly Usage[] },
): EvalResult {
  const counted = isStrict ? evaluated.runs : evaluated.runs.filter(({ verdict }) => verdict !== 'unjudged');
  const rate = rateOf(counted);
  const isPassed = counted.length > 0 && (isConfident ? rate.interval.low : rate.rate) >= test.passRate;
  const costs = usages.flatMap(({ price, tokensIn, tokensOut }) =>
    price === undefined ? [] : [(tokensIn * price.in + tokensOut * price.out) / MILLION],
  );
  const cost = costs.length === 0 ? undefined : costs.reduce((sum, one) => sum + one, 0);
  return { test, evaluated, rate, counted: counted.length, isPassed, tookMs, cost };
}

/** Rate, interval, waits and tokens of a test as texts. */
export function figuresOf({ test, evaluated, rate, counted, cost }: EvalResult): readonly string[] {
  const { answerMs, tokens, runs } = evaluated;
  const unjudged = runs.length - counted;
  return [
    `${String(rate.passed)} of ${String(counted)}${unjudged === 0 ? '' : ` (${String(unjudged)} unjudged)`}`,
    `${percent(rate.rate)} (${percent(rate.interval.low)} to ${percent(rate.interval.high)}), wanted ${percent(test.passRate)}`,
    `${String(answerMs.least)} to ${String(answerMs.most)} ms, half within ${String(answerMs.p50)}, 95 % within ${String(answerMs.p95)}`,
    `${String(tokens)} tokens${cost === undefined ? '' : `, price ${cost.toFixed(4)}`}`,
  ];
}

/** The result of a test as text, with every run that has not passed. */
export function resultLines(result: EvalResult, isColoured: boolean): readonly string[] {
  const colours = createColors(isColoured);
  const { test, evaluated, isPassed } = result;
  const [count, rate, waits, tokens] = figuresOf(result);
  return [
    `${isPassed ? colours.green('passed') : colours.red('FAILED')}  ${test.file}:${String(test.line)}  ${oneLine(test.name, MAX_NAME)}`,
    ...[
      ['runs', `${count ?? ''} passed, ${rate ?? ''}`],
      ['answers', waits ?? ''],
      ['models', tokens ?? ''],
    ].map(([what = '', text = '']) => `  ${colours.dim(what.padEnd(8))}  ${text}`),
    ...evaluated.runs.flatMap((run, index) =>
      run.verdict === 'passed'
        ? []
        : [...runLines(run, index + 1), ...(run.recording === undefined ? [] : [`  sound   ${run.recording}`])].map(
            (line) => `  ${oneLine(line, 1000)}`,
          ),
    ),
  ];
}

/** The result of a test as JSON data. */
export function evalData({ test, evaluated, rate, counted, isPassed, tookMs, cost }: EvalResult): object {
  return {
    ...{ file: test.file, line: test.line, name: test.name, isPassed, wanted: test.passRate, ...rate, counted },
    ...{ answerMs: evaluated.answerMs, tokens: evaluated.tokens, cost, tookMs: Math.round(tookMs), runs: evaluated.runs },
  };
}

/** The result of a test as a JUnit case. */
export function junitCase(result: EvalResult): JunitCase {
  const { test, evaluated, isPassed, tookMs } = result;
  const [count, rate] = figuresOf(result);
  return {
    ...{ file: test.file, title: test.name, tookMs },
    failure: isPassed
      ? undefined
      : { message: `${count ?? ''} passed, ${rate ?? ''}`, place: `${test.file}:${String(test.line)}`, details: String(evaluated) },
  };
}
