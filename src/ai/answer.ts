// Speaks one answer of the model sentence by sentence while the model still writes. When the first model fails before its first word, the
// fallback model answers. Runs no tools.
import type { JsonObject } from '../base/json.ts';
import type { Saying } from '../bot/saying.ts';
import { SentenceCutter } from '../bot/sentence-cutter.ts';
import type { ModelFailure } from '../dialog/turn-report.ts';
import type { Draft } from './draft.ts';
import { promptOf, shortened } from './history.ts';
import { askModel, demandModel, type LanguageModel, type ModelPart, type ModelSettings } from './model.ts';
import type { AssistantOptions } from './options.ts';
import { readAhead, type PreparedAnswer } from './prepared-answer.ts';
import { recordedParts } from './recorded.ts';

/** A tool use that the model requests. */
export type Use = Extract<ModelPart, { readonly kind: 'use' }>;

/** How an answer ended. `failed` is set when the answer failed, even if the caller has heard a part of it. */
export interface Answered {
  readonly uses: readonly Use[];
  readonly failed?: ModelFailure | 'refused';
}

/** The result of one request to a model, and whether the caller heard any of it. */
export type Attempt = Answered & { readonly hasBegun: boolean };

/** Part of every prompt of a model that writes text, after the author's instructions. */
const TELEPHONE = [
  'You are talking with a caller on the telephone. What you write is spoken: short sentences, no lists, no markup, no emoji.',
  'A dash at the end of your words means that the caller interrupted you there and has heard no more.',
].join(' ');
/** Part of every prompt of any model. */
const HONEST = 'Never say that something was done unless the result of a tool says so.';

/** Asks a model to continue the history of a draft. Yields what the model says; returns the tool uses that the model requests. */
export type Answering<D extends JsonObject> = (draft: Draft<D>) => AsyncGenerator<Saying, Answered>;

/**
 * Answers with the first language model and, when that model fails, with the fallback.
 * @throws TypeError for a value that is not a language model.
 * @returns a function to call once per turn, with the turn's prepared answer: the turn's first request gets the prepared answer.
 */
export function answering<D extends JsonObject>(options: AssistantOptions<D>): (prepared?: PreparedAnswer) => Answering<D> {
  for (const model of modelsOf(options)) demandModel(model);
  return (prepared) => {
    let first = prepared;
    return (draft) => {
      const ahead = first;
      first = undefined;
      return answer(draft, options, ahead);
    };
  };
}

/** Asks the first model while the caller may still go on. */
export function answerAhead<D extends JsonObject>(draft: Draft<D>, options: AssistantOptions<D>): PreparedAnswer {
  return { parts: readAhead(partsFrom(draft, options.model, options)), askedAtMs: draft.context.clock.monotonicMs() };
}

function modelsOf<D extends JsonObject>({ model, fallback }: AssistantOptions<D>): readonly LanguageModel[] {
  return fallback === undefined ? [model] : [model, fallback];
}

async function* answer<D extends JsonObject>(
  draft: Draft<D>,
  options: AssistantOptions<D>,
  ahead: PreparedAnswer | undefined,
): AsyncGenerator<Saying, Answered> {
  let answered: Answered = { uses: [], failed: 'error' };
  for (const [index, model] of modelsOf(options).entries()) {
    const prepared = index === 0 ? ahead : undefined;
    draft.noteAsked(model.modelId, prepared?.askedAtMs);
    const parts = prepared?.parts ?? partsFrom(draft, model, options);
    const attempt = yield* attemptWith(draft, { parts, model: model.modelId, isFallback: index > 0, check: options.check });
    answered = attempt;
    if (isLast(draft, attempt)) return attempt;
  }
  return answered;
}

/** Records a failure. @returns true for the last attempt: it succeeded, was refused or aborted, or the caller has heard a part of it. */
export function isLast<D extends JsonObject>(draft: Draft<D>, { failed, hasBegun }: Attempt): boolean {
  if (failed === undefined || failed === 'refused' || failed === 'aborted') return true;
  draft.noteFailure(failed);
  return hasBegun;
}

function partsFrom<D extends JsonObject>(
  draft: Draft<D>,
  model: LanguageModel,
  { settings = {} }: AssistantOptions<D>,
): AsyncIterable<ModelPart> {
  const { rules, context } = draft;
  return recordedParts(context, model.modelId, () =>
    askModel(model, requestOf(draft, settings), rules.limits, context.clock, context.signal),
  );
}

interface AttemptOptions<D extends JsonObject> {
  readonly check: AssistantOptions<D>['check'];
  readonly parts: AsyncIterable<ModelPart>;
  /** The model's name. */
  readonly model: string;
  readonly isFallback: boolean;
}

async function* attemptWith<D extends JsonObject>(
  draft: Draft<D>,
  { parts, model, isFallback, check }: AttemptOptions<D>,
): AsyncGenerator<Saying, Attempt> {
  if (isFallback) draft.noteFallback();
  const cutter = new SentenceCutter();
  const uses: Use[] = [];
  let hasBegun = false;
  for await (const part of parts) {
    switch (part.kind) {
      case 'use':
        draft.noteToken(model, isFallback);
        uses.push(part);
        break;
      case 'text':
        draft.noteToken(model, isFallback);
        for (const sentence of cutter.push(part.text)) {
          hasBegun = true;
          if (!(yield* speak(draft, sentence, check))) return { uses: [], failed: 'refused', hasBegun };
        }
        break;
      case 'end':
        draft.noteTokens(part.tokensIn, part.tokensOut);
        break;
      case 'failed':
        // The last sentence is incomplete, and a tool use of an incomplete answer may be wrong.
        return { uses: [], failed: part.why, hasBegun };
    }
  }
  for (const sentence of cutter.rest()) if (!(yield* speak(draft, sentence, check))) return { uses: [], failed: 'refused', hasBegun };
  return { uses, hasBegun: true };
}

/** @returns false when the sentence must not be said. */
async function* speak<D extends JsonObject>(
  draft: Draft<D>,
  sentence: string,
  check: AssistantOptions<D>['check'],
): AsyncGenerator<Saying, boolean> {
  const checked = check === undefined ? sentence : await check(sentence);
  if (checked === undefined) return false;
  // Markup that slips through would be read aloud.
  const text = checked.replace(/[*_`#]+/gu, '').trim();
  if (text === '') return true;
  draft.noteSentence();
  yield draft.say(text, { cache: false });
  return true;
}

function requestOf<D extends JsonObject>(draft: Draft<D>, settings: ModelSettings): Parameters<typeof askModel>[1] {
  const { shown, limits } = draft.rules;
  const history = shortened(draft.state.messages, limits.historyChars);
  return { prompt: promptOf(instructionsOf(draft, TELEPHONE), history), tools: shown, settings };
}

/** The author's instructions, then the instructions that every assistant gets. */
export function instructionsOf<D extends JsonObject>({ rules, context, state }: Draft<D>, always: string): string {
  const { instructions } = rules;
  const language = state.language ?? rules.language;
  const own = typeof instructions === 'string' ? instructions : instructions({ call: context.call, data: state.data, language });
  return `${own}\n\n${always} ${HONEST}${language === undefined ? '' : ` Speak the language with the tag ${language}.`}`;
}
