// Asks a language model for one answer and yields its parts as they arrive. Calls AI SDK providers directly, through version v3 (AI SDK 6)
// or v4 (AI SDK 7) of their interface. Knows no calls and no tools. Throws nothing: a failure is the last part of the answer.
import { linkForeignAbort, waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { ModelFailure } from '../dialog/turn-report.ts';

/** A model of any AI SDK provider, for example `createOpenAICompatible({ name, baseURL, apiKey })('some-model')`. */
export interface LanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  /** Answers in a stream of parts. The providers' own types are narrower. */
  doStream(options: ProviderCall): PromiseLike<{ readonly stream: object }>;
}

/** The options that every provider accepts. */
export interface ProviderCall {
  prompt: object[];
  tools?: object[];
  temperature?: number;
  maxOutputTokens?: number;
  providerOptions?: object;
  abortSignal?: AbortSignal;
}

/** A request to a model. */
export interface ModelRequest {
  readonly prompt: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly settings: ModelSettings;
}

/** Settings of a model; the provider chooses those that are omitted. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** Options by provider name; each provider documents its own. */
  readonly providerOptions?: JsonObject;
}

/** One message of a prompt. */
export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: ModelText[] }
  | { readonly role: 'assistant'; readonly content: (ModelText | ModelToolCall)[] }
  | { readonly role: 'tool'; readonly content: ModelToolResult[] };

interface ModelText {
  readonly type: 'text';
  readonly text: string;
}

/** A tool use that the model has requested. */
export interface ModelToolCall {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
  /** Set when the provider attached data, such as a signature of the model's reasoning; the next prompt must return the data. */
  readonly providerOptions?: JsonObject;
}

/** The result of a tool use. */
export interface ModelToolResult {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: { readonly type: 'text' | 'error-text'; readonly value: string };
}

/** A tool as the model sees it. */
export interface ModelTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  /** JSON schema, draft 7. */
  readonly inputSchema: object;
}

/** A part of an answer. Exactly one `end` or `failed` is the last. */
export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'use'; readonly tool: string; /** JSON. */ readonly input: string; readonly metadata?: JsonObject }
  | { readonly kind: 'end'; readonly tokensIn: number; readonly tokensOut: number }
  | { readonly kind: 'failed'; readonly why: ModelFailure; /** Set for an HTTP error. */ readonly status?: number };

/** Time limits of a model. */
export interface ModelPatience {
  /** Longest wait for the answer's first word or tool use, ms. */
  readonly firstTokenMs: number;
  /** Longest wait between two parts of an answer, ms. */
  readonly stallMs: number;
}

/** @throws TypeError unless `model` is a model object of a supported provider version; a model's name is not accepted. */
export function demandModel(model: unknown): asserts model is LanguageModel {
  const version = isRecord(model) && typeof model['doStream'] === 'function' ? model['specificationVersion'] : undefined;
  if (version === 'v3' || version === 'v4') return;
  const found = typeof version === 'string' ? `a model of specification ${version}` : typeof model;
  throw new TypeError(`an assistant needs a model object of an AI SDK provider (specification v3 or v4), not ${found}`);
}

/** Longest answer, characters: about twenty minutes of speech. The rest is cut off. */
const MAX_ANSWER_CHARS = 20_000;

const MAX_METADATA_CHARS = 8000;

/** Sends one request, without retries. The request ends when `signal` aborts or the reader leaves the loop. */
export async function* askModel(
  model: LanguageModel,
  { prompt, tools, settings }: ModelRequest,
  patience: ModelPatience,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): AsyncGenerator<ModelPart, void> {
  const wanted = linkForeignAbort(signal);
  const call = { prompt: [...prompt], ...(tools.length > 0 && { tools: [...tools] }), ...settings, abortSignal: wanted.signal };
  let parts: AsyncIterator<unknown> | undefined;
  let hasBegun = false;
  const inTime = async <T>(work: PromiseLike<T>): Promise<T> => {
    const waited = await waitAtMost(Promise.resolve(work), hasBegun ? patience.stallMs : patience.firstTokenMs, clock, wanted.signal);
    if (waited.kind !== 'value') throw new Broken(hasBegun ? 'stalled' : 'late');
    return waited.value;
  };
  const cancelLimit = clock.after(patience.firstTokenMs, () => {
    if (!hasBegun) wanted.abort('deadline');
  });
  try {
    parts = iteratorOf((await inTime(model.doStream(call))).stream);
    let left = MAX_ANSWER_CHARS;
    for (let next = await inTime(parts.next()); next.done !== true; next = await inTime(parts.next())) {
      const part = partOf(next.value);
      if (part === undefined) continue;
      if (part.kind === 'end' && !hasBegun) throw new Broken('empty');
      hasBegun = true;
      left -= part.kind === 'text' ? part.text.length : 0;
      yield left < 0 ? { kind: 'end', tokensIn: 0, tokensOut: 0 } : part;
      if (left < 0 || part.kind === 'end' || part.kind === 'failed') return;
    }
    throw new Broken('error');
  } catch (thrown) {
    yield signal.aborted ? failed('aborted') : thrown instanceof Broken ? failed(thrown.why) : errorPart(thrown);
  } finally {
    cancelLimit();
    wanted.abort('superseded');
    wanted.dispose();
    // Not awaited: a stream that hangs would delay the call.
    Promise.resolve(parts?.return?.()).catch(() => undefined);
  }
}

/** Thrown to end an answer that cannot continue. */
class Broken extends Error {
  readonly why: ModelFailure;

  constructor(why: ModelFailure) {
    super(why);
    this.why = why;
  }
}

function failed(why: ModelFailure): ModelPart {
  return { kind: 'failed', why };
}

function errorPart(thrown: unknown): ModelPart {
  const status = isRecord(thrown) ? thrown['statusCode'] : undefined;
  // When a connection breaks in the middle of an answer, the status is that of its successful start.
  return { kind: 'failed', why: 'error', ...(typeof status === 'number' && status >= 400 && { status }) };
}

function iteratorOf(stream: object): AsyncIterator<unknown> {
  if (!isIterable(stream)) throw new TypeError('the model gave no stream');
  return stream[Symbol.asyncIterator]();
}

function isIterable(stream: object): stream is AsyncIterable<unknown> {
  return Symbol.asyncIterator in stream;
}

/** Our form of a part of the provider's stream; undefined for a part that is not used here. */
function partOf(given: unknown): ModelPart | undefined {
  if (!isRecord(given)) return undefined;
  switch (given['type']) {
    case 'text-delta':
      return typeof given['delta'] === 'string' && given['delta'] !== '' ? { kind: 'text', text: given['delta'] } : undefined;
    case 'tool-call': {
      const { toolName, input, providerMetadata: metadata } = given;
      if (typeof toolName !== 'string' || given['providerExecuted'] === true) return undefined;
      return { kind: 'use', tool: toolName, input: typeof input === 'string' ? input : '', ...metadataOf(metadata) };
    }
    case 'error':
      return errorPart(given['error']);
    case 'finish': {
      const usage = isRecord(given['usage']) ? given['usage'] : {};
      if (finishOf(given['finishReason']) === 'error') return failed('error');
      return { kind: 'end', tokensIn: countOf(usage['inputTokens']), tokensOut: countOf(usage['outputTokens']) };
    }
    default:
      return undefined;
  }
}

/** The provider's data. Undefined when the data is too large for a state: the model works without it. */
function metadataOf(given: unknown): { readonly metadata?: JsonObject } {
  const text = isRecord(given) ? JSON.stringify(given) : '';
  return text === '' || text.length > MAX_METADATA_CHARS ? {} : { metadata: JSON.parse(text) as JsonObject };
}

function finishOf(reason: unknown): unknown {
  return isRecord(reason) ? reason['unified'] : reason;
}

function countOf(tokens: unknown): number {
  const count = isRecord(tokens) ? tokens['total'] : tokens;
  return typeof count === 'number' && count > 0 ? count : 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
