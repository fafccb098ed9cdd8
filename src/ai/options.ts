// What an author writes of an assistant, and what it keeps and reports.
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { ListenOptions, TransferOptions } from '../bot/saying.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import type { Reply } from '../dialog/reply.ts';
import type { Message } from './history.ts';
import type { LanguageModel, ModelFailure, ModelPatience, ModelSettings } from './model.ts';
import type { Phrases } from './phrases.ts';
import type { Exit, KeyedTool, Tool } from './tool.ts';

/** An assistant: a language model that talks, uses tools, and leaves through exits. */
export interface AssistantOptions<D extends JsonObject = JsonObject> extends AssistantManners<D> {
  readonly model: LanguageModel;
  readonly settings?: ModelSettings;
  /** Asked when the first model fails before its first word. */
  readonly fallback?: LanguageModel;
  /** Sees each sentence before it is spoken: gives it back, another one, or undefined to stop and say that the thread is lost. */
  readonly check?: (sentence: string) => string | undefined | Promise<string | undefined>;
  /**
   * Whether the model is asked when the caller pauses and may be done, so that its answer begins sooner: up to three times for one input,
   * each of which costs tokens. Only with a recognizer that hears while the caller speaks. Default true.
   */
  readonly early?: boolean;
}

/** What an assistant is for and how it behaves, whatever model it has. */
export interface AssistantManners<D extends JsonObject = JsonObject> {
  /** What the assistant is for and how it talks. That this is a telephone call is told by itself. */
  readonly instructions:
    | string
    | ((context: { readonly call: CallFacts; readonly data: D; readonly language: string | undefined }) => string);
  /** Said without the model, and part of the history. */
  readonly greeting: string | ((call: CallFacts) => string);
  /** The author's own JSON beside the history; tools change it. Default: empty. */
  readonly data?: D;
  readonly tools?: Readonly<Record<string, Tool<D> | KeyedTool<D>>>;
  /** Ways back to the bot around an {@link assistantStep}. */
  readonly exits?: Readonly<Record<string, Exit>>;
  /** Lets the model transfer the caller to a person, with a reason and a summary. Default false. */
  readonly transfer?: boolean | TransferRule<D>;
  /** Lets the model end the call when the caller is done. Default true. */
  readonly end?: boolean | { readonly says?: string; readonly outcome?: string };
  /** Keys that were not asked for: words for the model (default), or refused. */
  readonly keys?: 'model' | 'off';
  /** What the assistant speaks, BCP 47: chooses its phrases. Default: English. */
  readonly language?: string;
  /** Lets the model change to one of these languages, BCP 47. */
  readonly languages?: Readonly<
    Record<string, { readonly voice?: string; readonly greeting: string; readonly phrases?: Partial<Phrases> }>
  >;
  readonly limits?: Partial<AssistantLimits>;
  /** Sees what the caller said before it reaches a model or the state. */
  readonly redact?: (text: string) => string;
  readonly phrases?: Partial<Phrases>;
  /** How to listen after each reply. */
  readonly listen?: ListenOptions;
  /** Told after every turn that asked the model. An error in it is ignored. */
  readonly onTurn?: (turn: TurnReport) => void;
  /** Told once when the call has ended and its tools with it, 2 s later at most. An error in it is ignored. Not for an {@link assistantStep}. */
  readonly onEnd?: (end: {
    readonly call: CallFacts;
    readonly messages: readonly Message[];
    readonly data: D;
    readonly tokens: number;
    readonly by: SessionEnd;
  }) => void;
}

/** How an assistant transfers a caller. */
export interface TransferRule<D extends JsonObject = JsonObject> {
  /** Said when the model has said nothing. Default: `phrases.transferring`. */
  readonly says?: string;
  /** Where to. The model never chooses a routing hint: this does. Default: anywhere, with its reason and summary. */
  readonly to?: (
    given: { readonly reason: string; readonly summary: string },
    context: { readonly call: CallFacts; readonly data: D },
  ) => TransferOptions;
}

/** What an assistant may use up; behind each limit the caller is transferred, unless the text says otherwise. */
export interface AssistantLimits extends ModelPatience {
  /** Turns of a call. Default 60. */
  readonly turns: number;
  /** Answers of the model in one turn, one for each round of tools. Default 6. */
  readonly rounds: number;
  /** Tokens of a call, in and out. Default 200,000. */
  readonly tokens: number;
  /** Length of a call, s. Default 1800. */
  readonly seconds: number;
  /** Longest history that a model is sent, characters of JSON; older turns are dropped. Default 40,000. */
  readonly historyChars: number;
}

/** What an assistant keeps of a call: plain JSON, a part of the state of the bot around it. */
export interface AssistantState<D extends JsonObject = JsonObject> {
  readonly messages: readonly Message[];
  readonly data: D;
  readonly turns: number;
  readonly tokens: number;
  /** Uses of tools so far. */
  readonly uses: number;
  /** Turns in a row in which the model failed. */
  readonly failures: number;
  /** Turns in a row in which nothing was understood because no recognizer worked. */
  readonly unheard: number;
  /** The language that the model has changed to. */
  readonly language?: string;
  /** The caller is asked for digits. */
  readonly keying?: { readonly use: string; readonly tool: string; readonly tries: number };
}

/** What came of a turn: a reply, or an exit that the bot around it follows. */
export type AssistantTurn<D extends JsonObject = JsonObject> =
  | { readonly state: AssistantState<D>; readonly reply: Reply; readonly exit?: undefined }
  | { readonly state: AssistantState<D>; readonly exit: string; readonly input: JsonValue };

/** One turn in numbers. Times are ms since the handler was called. */
export interface TurnReport {
  readonly firstTokenMs?: number;
  readonly firstSentenceMs?: number;
  readonly tools: readonly { readonly name: string; readonly ms: number; readonly ok: boolean }[];
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** The last model that was asked. */
  readonly model: string;
  readonly isFallback: boolean;
  readonly failures: readonly ModelFailure[];
  readonly isInterrupted: boolean;
}
