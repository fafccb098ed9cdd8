// A caller played by a language model: its prompt, and its next action.
import { systemClock } from '../../base/clock.ts';
import { askModel, type LanguageModel, type ModelMessage } from '../../ai/model.ts';

/** Called with the tokens that a model has used. */
export type OnTokens = (model: LanguageModel, tokensIn: number, tokensOut: number) => void;

/** A caller's character. */
export interface Persona {
  /** Plays the caller. A different model than the bot's finds more problems. */
  readonly model: LanguageModel;
  /** How the caller talks and behaves, in a sentence or two. */
  readonly brief: string;
  /** What the caller wants. The caller hangs up when the goal seems reached. */
  readonly goal: string;
  /** Probability that the caller interrupts a reply, 0 to 1. Default 0. */
  readonly interrupts?: number;
}

/** What was said in a run. */
export interface SpokenLine {
  readonly by: 'caller' | 'bot';
  /** Ends with a dash when it was interrupted. */
  readonly text: string;
}

/** What a caller does next. */
export type CallerAct =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'press'; readonly keys: string }
  | { readonly kind: 'hang_up' };

const PATIENCE = { firstTokenMs: 60_000, stallMs: 30_000 };
const MAX_WORDS_CHARS = 1000;

/** Asks a model once. @returns the model's words; undefined: the model failed. */
export async function wordsOf(
  model: LanguageModel,
  prompt: readonly ModelMessage[],
  signal: AbortSignal,
  onTokens: OnTokens,
): Promise<string | undefined> {
  let words = '';
  for await (const part of askModel(model, { prompt, tools: [], settings: {} }, PATIENCE, systemClock, signal)) {
    if (part.kind === 'failed') return undefined;
    if (part.kind === 'text') words += part.text;
    if (part.kind === 'end') onTokens(model, part.tokensIn, part.tokensOut);
  }
  return words.trim().slice(0, MAX_WORDS_CHARS);
}

/** The caller's next action after these lines; undefined: the model failed. */
export async function nextAct(
  { model, brief, goal }: Persona,
  lines: readonly SpokenLine[],
  signal: AbortSignal,
  onTokens: OnTokens,
): Promise<CallerAct | undefined> {
  const instructions = [
    `You play somebody who calls a company on the telephone. ${brief}`,
    `What you want: ${goal}`,
    'Answer with what you say and nothing else: one or two short sentences, as people talk.',
    'To press keys, answer [keys 123]. When you have what you want, or see that you will not get it, answer [hang up].',
    'A dash at the end of what you hear means that you interrupted there.',
  ].join('\n');
  const talk = lines.map(({ by, text }): ModelMessage => {
    const content = [{ type: 'text' as const, text }];
    return by === 'bot' ? { role: 'user', content } : { role: 'assistant', content };
  });
  const words = await wordsOf(model, [{ role: 'system', content: instructions }, ...talk], signal, onTokens);
  if (words === undefined) return undefined;
  const keys = /\[keys (?<keys>[0-9A-D*#]{1,64})\]/u.exec(words)?.groups?.['keys'];
  if (keys !== undefined) return { kind: 'press', keys };
  return words === '' || words.includes('[hang up]') ? { kind: 'hang_up' } : { kind: 'say', text: words };
}
