// Evaluates a bot with callers who are played by a language model: many runs, what must be true of each, and how sure the rate is. Text alone,
// without a server.
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import { seededNumbers } from '../../base/seeded-numbers.ts';
import type { Bot } from '../../bot/bot.ts';
import { TestCall, type UsedTool } from '../../bot/testing.ts';
import { nextAct, type Persona, type SpokenLine } from './persona.ts';
import { complaints, vetoes, type Judge, type RunEnd, type RunExpectations } from './verdict.ts';

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
  /** Draws where the caller interrupts. Default 1. */
  readonly seed?: number;
  /** Called for every run that has ended. */
  readonly onRun?: (run: EvaluatedRun) => void;
  readonly signal?: AbortSignal;
}

/** One run. `unjudged`: its judge failed; `broken`: the caller's model or the bot did. Neither has passed. */
export interface EvaluatedRun {
  readonly verdict: 'passed' | 'failed' | 'vetoed' | 'unjudged' | 'broken';
  /** Why it has not passed. */
  readonly why: readonly string[];
  readonly end: RunEnd;
  readonly lines: readonly SpokenLine[];
  readonly tools: readonly UsedTool[];
  /** How long the bot thought about each input, ms. */
  readonly answerMs: readonly number[];
}

/** The result of all runs. */
export interface Evaluated {
  /** In the order in which they began. */
  readonly runs: readonly EvaluatedRun[];
  readonly passed: number;
  /** Of all runs, 0 to 1. */
  readonly rate: number;
  /** Where the true rate lies, with 95 % certainty (Wilson). */
  readonly interval: { readonly low: number; readonly high: number };
  readonly answerMs: { readonly p50: number; readonly p95: number };
  /** Of the caller's model and the judge's. */
  readonly tokens: number;
  /** For people: the figures, and each run that has not passed with its transcript. */
  toString(): string;
}

const RUNS = 10;
const AT_ONCE = 4;
const MAX_TURNS = 10;
/** The 97.5th percentile of the standard normal distribution. */
const Z_95 = 1.96;

/**
 * Lets callers talk with a bot.
 *
 * @throws RangeError for numbers that make no sense; an error of the signal when it aborts.
 *
 * @example
 * const evaluated = await evaluate(appointments, {
 *   persona: { model, brief: 'In a hurry.', goal: 'An appointment on Tuesday.', interrupts: 0.4 },
 *   expect: { tools: { book_slot: 1 }, saysNot: [/as an ai/i] },
 * });
 * expect(evaluated.rate, String(evaluated)).toBeGreaterThanOrEqual(0.9);
 */
export async function evaluate(bot: Bot, options: EvaluationOptions): Promise<Evaluated> {
  const { runs: count = RUNS, atOnce = AT_ONCE, maxTurns = MAX_TURNS, seed = 1, signal = new AbortController().signal } = options;
  for (const [name, value] of Object.entries({ runs: count, atOnce, maxTurns }))
    if (!Number.isInteger(value) || value < 1)
      throw new RangeError(`an evaluation needs a whole number of ${name} from 1, not ${String(value)}`);
  const runs: EvaluatedRun[] = [];
  let [next, tokens] = [0, 0];
  const oneAfterTheOther = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const run = await held(bot, { ...options, maxTurns, signal, random: seededNumbers(seed + index) }, (more) => (tokens += more));
      signal.throwIfAborted();
      runs[index] = run;
      options.onRun?.(run);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, oneAfterTheOther));
  return summed(runs, tokens);
}

interface HeldOptions extends EvaluationOptions {
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  readonly random: () => number;
}

async function held(bot: Bot, options: HeldOptions, onTokens: (tokens: number) => void): Promise<EvaluatedRun> {
  const { signal, expect = {}, judge } = options;
  const run = await talked(bot, options, onTokens);
  if (run.broken !== undefined) return { verdict: 'broken', why: [run.broken], ...run.facts };
  const why = complaints(expect, run.facts);
  if (why.length > 0 || judge === undefined) return { verdict: why.length > 0 ? 'failed' : 'passed', why, ...run.facts };
  const vetoed = await vetoes(judge, run.facts, signal, onTokens);
  const verdict = vetoed === undefined ? 'unjudged' : vetoed.length > 0 ? 'vetoed' : 'passed';
  return { verdict, why: vetoed ?? ['the judge failed'], ...run.facts };
}

interface Talked {
  readonly facts: Omit<EvaluatedRun, 'verdict' | 'why'>;
  /** Why there is nothing to judge. */
  readonly broken: string | undefined;
}

async function talked(bot: Bot, { persona, maxTurns, signal, random }: HeldOptions, onTokens: (tokens: number) => void): Promise<Talked> {
  const call = new TestCall(bot, { conversationId: randomUUID() });
  const lines: SpokenLine[] = [];
  const answerMs: number[] = [];
  const over = (end: RunEnd, broken?: string): Talked => ({ facts: { end, lines, tools: call.used, answerMs }, broken });
  const answered = async (work: () => Promise<unknown>): Promise<void> => {
    const beganAtMs = systemClock.monotonicMs();
    await work();
    answerMs.push(systemClock.monotonicMs() - beganAtMs);
    lines.push({ by: 'bot', text: call.heard });
  };
  try {
    await answered(() => call.start());
    for (let turn = 0; turn < maxTurns && call.reply.next.kind === 'listen'; turn += 1) {
      if (turn > 0 && random() < (persona.interrupts ?? 0)) await interrupted(call, lines, random);
      const act = await nextAct(persona, lines, signal, onTokens);
      if (act === undefined || act.kind === 'hang_up') {
        await call.hangUp();
        return over('hung_up', act === undefined ? 'the model of the caller failed' : undefined);
      }
      lines.push({ by: 'caller', text: act.kind === 'press' ? `[keys ${act.keys}]` : act.text });
      await answered(() => (act.kind === 'press' ? call.press(act.keys) : call.speak(act.text)));
    }
    const { kind } = call.reply.next;
    if (kind !== 'listen') return over(kind === 'end' ? 'ended' : 'transferred');
    await call.hangUp();
    return over('too_long');
  } catch (thrown) {
    return over('too_long', `the bot failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

/** The caller has heard only the beginning of the last reply. */
async function interrupted(call: TestCall, lines: SpokenLine[], random: () => number): Promise<void> {
  const words = call.heard.split(' ');
  const heard = words.slice(0, Math.floor(random() * words.length)).join(' ');
  await call.interrupt('speech', { text: heard });
  lines.splice(-1, 1, { by: 'bot', text: `${heard} —`.trim() });
}

function summed(runs: readonly EvaluatedRun[], tokens: number): Evaluated {
  const passed = runs.filter(({ verdict }) => verdict === 'passed').length;
  const sorted = runs.flatMap(({ answerMs }) => answerMs).toSorted((a, b) => a - b);
  const percentile = (part: number): number => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
  const figures = {
    ...{ runs, passed, tokens, rate: passed / runs.length, interval: wilson(passed, runs.length) },
    answerMs: { p50: percentile(0.5), p95: percentile(0.95) },
  };
  return { ...figures, toString: () => described(figures) };
}

function wilson(passed: number, count: number): Evaluated['interval'] {
  const rate = passed / count;
  const z2 = Z_95 ** 2;
  const middle = (rate + z2 / (2 * count)) / (1 + z2 / count);
  const half = (Z_95 * Math.sqrt((rate * (1 - rate)) / count + z2 / (4 * count ** 2))) / (1 + z2 / count);
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

function described({ runs, passed, interval, answerMs }: Omit<Evaluated, 'toString'>): string {
  const percent = (part: number): string => `${String(Math.round(part * 100))} %`;
  return [
    `${String(passed)} of ${String(runs.length)} runs passed, so ${percent(interval.low)} to ${percent(interval.high)} would`,
    `answers took ${String(answerMs.p50)} ms, ${String(answerMs.p95)} ms at most in 95 of 100`,
    ...runs.flatMap(({ verdict, why, lines }, index) =>
      verdict === 'passed'
        ? []
        : ['', `run ${String(index + 1)} ${verdict}: ${why.join('; ')}`, ...lines.map(({ by, text }) => `  ${by.padEnd(6)}  ${text}`)],
    ),
  ].join('\n');
}
