// Whether a run was good. Exact checks come first; a judge sees only runs that pass them, and can only veto.
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { LanguageModel } from '../../ai/model.ts';
import type { UsedTool } from '../../bot/test-tools.ts';
import { isExpectedValue } from '../../fake-platform/caller/expectation.ts';
import { wordsOf, type OnTokens, type SpokenLine } from './persona.ts';

/** What must be true of every run. */
export interface RunExpectations {
  /** How the call ends. `hung_up`: the caller ends it; `too_long`: neither side ends it. */
  readonly ends?: RunEnd;
  /** Tools by name: the exact number of uses, or what the uses must be. */
  readonly tools?: Readonly<Record<string, number | ToolExpectation>>;
  /** Tools that must not be used. */
  readonly toolsNot?: readonly string[];
  /** What the bot's replies, joined, must contain; strings match in any case. */
  readonly says?: readonly (string | RegExp)[];
  readonly saysNot?: readonly (string | RegExp)[];
  /** The 95th percentile of the answer times of a run must be lower, ms. */
  readonly answerP95BelowMs?: number;
  /** The longest silence between two sounds of one reply must be shorter, ms. Only for calls by voice. */
  readonly gapBelowMs?: number;
}

/** What the uses of a tool must be. */
export interface ToolExpectation {
  /** Exact number of uses. Default: at least one. */
  readonly times?: number | undefined;
  /** Members that the input of at least one use must have; a text between slashes is a pattern. */
  readonly with?: JsonObject | undefined;
}

export type RunEnd = 'ended' | 'transferred' | 'hung_up' | 'too_long';

/** A model that may veto a run that passed the checks. The model cannot rescue a run that failed them. */
export interface Judge {
  readonly model: LanguageModel;
  /** Statements that must not be true of a run, a sentence each. */
  readonly veto: readonly string[];
  /** How often the model is asked about each statement; the majority counts. Default 1. */
  readonly votes?: 1 | 3 | 5;
}

/** The facts that a run is judged by. */
export interface RunFacts {
  readonly end: RunEnd;
  readonly lines: readonly SpokenLine[];
  readonly tools: readonly UsedTool[];
  /** How long the caller waited for a reply after each input, ms. */
  readonly answerMs: readonly number[];
  /** Set for a run with sound: the longest silence between two sounds of one reply, ms. */
  readonly gapMs?: number;
}

/** The expectations that a run has not met, as texts. */
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

/** A percentile of the numbers, rounded; 0 without numbers. @param part - 0.95 for the 95th percentile. */
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

/** @returns the judge's reasons for vetoes; empty: no veto; undefined: the judge failed, so the run is unjudged. */
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
      // A veto must come with a reason.
      if (answer === undefined || !/^\W*(?:no\b|yes\b\W*\w)/iu.test(answer)) return undefined;
      answers.push(answer);
    }
    const against = answers.filter((answer) => /^\W*yes\b/iu.test(answer));
    if (against.length * 2 > votes) found.push(`${statement} ${(against[0] ?? '').replace(/^\W*yes[\s:,.-]*/iu, '')}`.trim());
  }
  return found;
}
