// Whether a run was good: what can be checked for certain comes first; a judge sees only what passed, and can only make it worse.
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { LanguageModel } from '../../ai/model.ts';
import type { UsedTool } from '../../bot/testing.ts';
import { wordsOf, type SpokenLine } from './persona.ts';

/** What must be true of every run. */
export interface RunExpectations {
  /** How it ends. `hung_up`: the caller ends it; `too_long`: nobody does. */
  readonly ends?: RunEnd;
  /** Tools by name: how often each is used, exactly, or with which input at least once. */
  readonly tools?: Readonly<Record<string, number | JsonObject>>;
  /** Tools that must not be used. */
  readonly toolsNot?: readonly string[];
  /** Found in what the bot says, all of it joined; texts in any case. */
  readonly says?: readonly (string | RegExp)[];
  readonly saysNot?: readonly (string | RegExp)[];
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
  readonly tools: readonly UsedTool[];
  readonly lines: readonly SpokenLine[];
}

/** What was not as expected; empty when all was. */
export function complaints(
  { ends, tools = {}, toolsNot = [], says = [], saysNot = [] }: RunExpectations,
  run: RunFacts,
): readonly string[] {
  const said = run.lines.flatMap(({ by, text }) => (by === 'bot' ? [text] : [])).join('\n');
  const used = (name: string): readonly UsedTool[] => run.tools.filter(({ tool }) => tool === name);
  return [
    ...(ends === undefined || ends === run.end ? [] : [`it should be ${ends} and was ${run.end}`]),
    ...Object.entries(tools).flatMap(([name, wanted]) => {
      const uses = used(name);
      if (typeof wanted === 'number')
        return uses.length === wanted ? [] : [`${name} should be used ${times(wanted)} and was used ${times(uses.length)}`];
      return uses.some(({ input }) => holds(input, wanted)) ? [] : [`${name} should be used with ${JSON.stringify(wanted)} and was not`];
    }),
    ...toolsNot.filter((name) => used(name).length > 0).map((name) => `${name} should not be used`),
    ...says.filter((pattern) => !isIn(said, pattern)).map((pattern) => `the bot should say ${String(pattern)}`),
    ...saysNot.filter((pattern) => isIn(said, pattern)).map((pattern) => `the bot should not say ${String(pattern)}`),
  ];
}

function times(count: number): string {
  return count === 1 ? 'once' : `${String(count)} times`;
}

function holds(input: JsonValue, wanted: JsonObject): boolean {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return false;
  return Object.entries(wanted).every(([name, value]) => JSON.stringify(Reflect.get(input, name)) === JSON.stringify(value));
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
  { lines, tools }: RunFacts,
  signal: AbortSignal,
  onTokens: (tokens: number) => void,
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
      if (answer === undefined || !/^\W*(?:yes|no)\b/iu.test(answer)) return undefined;
      answers.push(answer);
    }
    const against = answers.filter((answer) => /^\W*yes\b/iu.test(answer));
    if (against.length * 2 > votes) found.push(`${statement} ${(against[0] ?? '').replace(/^\W*yes[\s:,.-]*/iu, '')}`.trim());
  }
  return found;
}
