// Whether a run was good: what can be checked for certain comes first; a judge sees only what passed, and can only make it worse.
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { LanguageModel } from '../../ai/model.ts';
import type { UsedTool } from '../../bot/test-tools.ts';
import { isExpectedValue } from '../../fake-platform/caller/expectation.ts';
import { wordsOf, type OnTokens, type SpokenLine } from './persona.ts';

/** What must be true of every run. */
export interface RunExpectations {
  /** How it ends. `hung_up`: the caller ends it; `too_long`: nobody does. */
  readonly ends?: RunEnd;
  /** Tools by name: how often each is used, exactly, or what is demanded of its uses. */
  readonly tools?: Readonly<Record<string, number | ToolExpectation>>;
  /** Tools that must not be used. */
  readonly toolsNot?: readonly string[];
  /** Found in what the bot says, all of it joined; texts in any case. */
  readonly says?: readonly (string | RegExp)[];
  readonly saysNot?: readonly (string | RegExp)[];
  /** 95 of 100 answers of a run come sooner, ms. */
  readonly answerP95BelowMs?: number;
  /** No silence between two sounds of one reply is as long, ms; for calls by voice. */
  readonly gapBelowMs?: number;
}

/** What the uses of a tool must be. */
export interface ToolExpectation {
  /** How often it is used, exactly. Default: at least once. */
  readonly times?: number | undefined;
  /** Stands in the input of at least one use; a text between slashes is a pattern. */
  readonly with?: JsonObject | undefined;
}

export type RunEnd = 'ended' | 'transferred' | 'hung_up' | 'too_long';

/** A model that may veto a run, and never rescue one. */
export interface Judge {
  readonly model: LanguageModel;
  /** What must not be true of a run, each in a sentence. */
  readonly veto: readonly string[];
  /** How often it is asked; most answers count. Default 1. */
  readonly votes?: 1 | 3 | 5;
}

/** What a run is held against. */
export interface RunFacts {
  readonly end: RunEnd;
  readonly lines: readonly SpokenLine[];
  readonly tools: readonly UsedTool[];
  /** How long the bot let the caller wait after each input, ms. */
  readonly answerMs: readonly number[];
  /** The longest silence between two sounds of one reply, ms; undefined without sound. */
  readonly gapMs?: number;
}

/** What was not as expected; empty when all was. */
export function complaints(
  { ends, tools = {}, toolsNot = [], says = [], saysNot = [], answerP95BelowMs, gapBelowMs = Infinity }: RunExpectations,
  run: RunFacts,
): readonly string[] {
  const said = run.lines.flatMap(({ by, text }) => (by === 'bot' ? [text] : [])).join('\n');
  const used = (name: string): readonly UsedTool[] => run.tools.filter(({ tool }) => tool === name);
  const p95 = percentile(run.answerMs, 0.95);
  const { gapMs = 0 } = run;
  return [
    ...(ends === undefined || ends === run.end ? [] : [`it should be ${ends} and was ${run.end}`]),
    ...Object.entries(tools).flatMap(([name, wanted]) =>
      toolComplaints(name, used(name), typeof wanted === 'number' ? { times: wanted } : wanted),
    ),
    ...toolsNot.filter((name) => used(name).length > 0).map((name) => `${name} should not be used`),
    ...says.filter((pattern) => !isIn(said, pattern)).map((pattern) => `the bot should say ${String(pattern)}`),
    ...saysNot.filter((pattern) => isIn(said, pattern)).map((pattern) => `the bot should not say ${String(pattern)}`),
    ...(answerP95BelowMs === undefined || (run.answerMs.length > 0 && p95 < answerP95BelowMs)
      ? []
      : [`95 of 100 answers should come within ${String(answerP95BelowMs)} ms and take ${String(p95)} ms`]),
    ...(gapMs < gapBelowMs
      ? []
      : [`no reply should be silent for ${String(gapBelowMs)} ms in the middle, and one was for ${String(gapMs)} ms`]),
  ];
}

function toolComplaints(name: string, uses: readonly UsedTool[], { times: count, with: wanted }: ToolExpectation): readonly string[] {
  const isOften = count === undefined ? uses.length > 0 : uses.length === count;
  if (!isOften)
    return [
      `${name} should be used${count === undefined ? '' : ` ${times(count)}`} and was ${uses.length === 0 ? 'not' : `used ${times(uses.length)}`}`,
    ];
  if (wanted === undefined || uses.some(({ input }) => holds(input, wanted))) return [];
  return [
    `${name} should be used with ${JSON.stringify(wanted)} and was used with ${uses.map(({ input }) => JSON.stringify(input)).join(', ')}`,
  ];
}

/** What a part of the numbers stays within, whole; 0 without any. */
export function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
}

function times(count: number): string {
  return count === 1 ? 'once' : `${String(count)} times`;
}

function holds(input: JsonValue, wanted: JsonObject): boolean {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return false;
  const given = input as JsonObject;
  return Object.entries(wanted).every(([name, value]) => isExpectedValue(value, given[name]));
}

function isIn(text: string, pattern: string | RegExp): boolean {
  return typeof pattern === 'string'
    ? text.toLowerCase().includes(pattern.toLowerCase())
    : new RegExp(pattern, pattern.flags.replace(/[gy]/gu, '')).test(text);
}

const DEFAULT_VOTES = 1;

/** @returns why the judge vetoes; empty when it does not; undefined when it failed, and then the run has not passed. */
export async function vetoes(
  { model, veto, votes = DEFAULT_VOTES }: Judge,
  { lines, tools }: Pick<RunFacts, 'lines' | 'tools'>,
  signal: AbortSignal,
  onTokens: OnTokens,
): Promise<readonly string[] | undefined> {
  const call = [
    ...lines.map(({ by, text }) => `${by}: ${text}`),
    ...tools.map(({ tool, input }) => `tool ${tool}: ${JSON.stringify(input)}`),
  ].join('\n');
  const found: string[] = [];
  for (const statement of veto) {
    const content = [
      'Below is a telephone call between a caller and a bot, and the tools that the bot used.',
      `Is this true of it: "${statement}"`,
      'Answer NO, or YES and the words of the call that show it.',
    ].join('\n');
    const answers: string[] = [];
    for (let vote = 0; vote < votes; vote += 1) {
      const prompt = [
        { role: 'system' as const, content },
        { role: 'user' as const, content: [{ type: 'text' as const, text: call }] },
      ];
      const answer = await wordsOf(model, prompt, signal, onTokens);
      // A veto names what it is about.
      if (answer === undefined || !/^\W*(?:no\b|yes\b\W*\w)/iu.test(answer)) return undefined;
      answers.push(answer);
    }
    const against = answers.filter((answer) => /^\W*yes\b/iu.test(answer));
    if (against.length * 2 > votes) found.push(`${statement} ${(against[0] ?? '').replace(/^\W*yes[\s:,.-]*/iu, '')}`.trim());
  }
  return found;
}
