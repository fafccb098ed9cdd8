// Evaluates a bot with callers that a language model plays: makes many runs, checks each, and estimates the rate of good runs. A parameter
// decides whether runs are by text or by voice.
import { seededNumbers } from '../../base/seeded-numbers.ts';
import type { Bot } from '../../bot/bot.ts';
import { evaluatedOf, type Evaluated, type EvaluatedRun } from './evaluated.ts';
import type { OnTokens, Persona } from './persona.ts';
import type { Run, Talked } from './run.ts';
import { textCall } from './text-call.ts';
import { complaints, vetoes, type Judge, type RunExpectations } from './verdict.ts';

/** See {@link evaluate}. */
export interface EvaluationOptions {
  readonly persona: Persona;
  /** Default 10. */
  readonly runs?: number;
  /** Runs at once. Default 4. */
  readonly atOnce?: number;
  /** Inputs of the caller in one run. Default 10. */
  readonly maxTurns?: number;
  readonly expect?: RunExpectations;
  readonly judge?: Judge;
  /** Seed of the points at which the caller interrupts. Default 1. */
  readonly seed?: number;
  /** Called after every run. */
  readonly onRun?: (run: EvaluatedRun) => void;
  readonly signal?: AbortSignal;
}

export const RUNS = 10;
export const AT_ONCE = 4;
const MAX_TURNS = 10;

/**
 * Lets callers talk with a bot by text.
 * @throws RangeError for numbers that are not whole or below 1; the signal's error when it aborts.
 * @example
 * const evaluated = await evaluate(appointments, {
 *   persona: { model, brief: 'In a hurry.', goal: 'An appointment on Tuesday.', interrupts: 0.4 },
 *   expect: { tools: { book_slot: 1 }, saysNot: [/as an ai/i] },
 * });
 * expect(evaluated.rate, String(evaluated)).toBeGreaterThanOrEqual(0.9);
 */
export function evaluate(bot: Bot, options: EvaluationOptions): Promise<Evaluated> {
  return evaluateRuns((run) => textCall(bot, run), options);
}

/** Like {@link evaluate}, with any kind of run. @param hold - makes one run; rejects only with the signal's error. */
export async function evaluateRuns(
  hold: (run: Run) => Promise<Talked>,
  options: EvaluationOptions & { readonly onTokens?: OnTokens },
): Promise<Evaluated> {
  const { runs: count = RUNS, atOnce = AT_ONCE, maxTurns = MAX_TURNS, seed = 1, signal = new AbortController().signal } = options;
  for (const [name, value] of Object.entries({ runs: count, atOnce, maxTurns }))
    if (!Number.isInteger(value) || value < 1)
      throw new RangeError(`an evaluation needs a whole number of ${name} from 1, not ${String(value)}`);
  const runs: EvaluatedRun[] = [];
  let [next, tokens] = [0, 0];
  const onTokens: OnTokens = (model, tokensIn, tokensOut) => {
    tokens += tokensIn + tokensOut;
    options.onTokens?.(model, tokensIn, tokensOut);
  };
  const oneAfterTheOther = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const given = { number: index + 1, persona: options.persona, maxTurns, signal, random: seededNumbers(seed + index), onTokens };
      const run = await judged(await hold(given), options, given);
      signal.throwIfAborted();
      runs[index] = run;
      options.onRun?.(run);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, oneAfterTheOther));
  return evaluatedOf(runs, tokens);
}

async function judged(
  { facts, broken, keep }: Talked,
  { expect = {}, judge }: EvaluationOptions,
  { signal, onTokens }: Run,
): Promise<EvaluatedRun> {
  const ended = async (verdict: EvaluatedRun['verdict'], why: readonly string[]): Promise<EvaluatedRun> => {
    const recording = verdict === 'passed' ? undefined : await keep?.();
    return { verdict, why, ...facts, ...(recording !== undefined && { recording }) };
  };
  if (broken !== undefined) return ended('broken', [broken]);
  const why = complaints(expect, facts);
  if (why.length > 0 || judge === undefined) return ended(why.length > 0 ? 'failed' : 'passed', why);
  const vetoed = await vetoes(judge, facts, signal, onTokens);
  return ended(vetoed === undefined ? 'unjudged' : vetoed.length > 0 ? 'vetoed' : 'passed', vetoed ?? ['the judge failed']);
}
