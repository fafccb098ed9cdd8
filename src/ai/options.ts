// The options of an assistant, its state, and its reports.
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { ListenOptions, TransferOptions } from '../bot/saying.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import type { Reply } from '../dialog/reply.ts';
import type { TurnReport } from '../dialog/turn-report.ts';
import type { Message } from './history.ts';
import type { LanguageModel, ModelPatience, ModelSettings } from './model.ts';
import type { Phrases } from './phrases.ts';
import type { Exit, KeyedTool, Tool } from './tool.ts';

/** An assistant: a language model that talks, uses tools, and leaves through exits. */
export interface AssistantOptions<D extends JsonObject = JsonObject> extends AssistantManners<D> {
  readonly model: LanguageModel;
  readonly settings?: ModelSettings;
  /** Answers when the first model fails before its first word. */
  readonly fallback?: LanguageModel;
  /**
   * Called with each sentence before it is spoken; returns the sentence to speak. When it returns undefined, the assistant stops and
   * apologizes.
   */
  readonly check?: (sentence: string) => string | undefined | Promise<string | undefined>;
  /**
   * Whether to ask the model already when the caller pauses, so that its answer begins sooner. Asks up to three times for one input, and
   * each request costs tokens. Works only with a recognizer that hears while the caller speaks. Default true.
   */
  readonly early?: boolean;
}

/** The purpose and behaviour of an assistant; the same for every kind of model. */
export interface AssistantManners<D extends JsonObject = JsonObject> {
  /** The assistant's purpose and tone. Parley itself adds that this is a telephone call. */
  readonly instructions:
    | string
    | ((context: { readonly call: CallFacts; readonly data: D; readonly language: string | undefined }) => string);
  /** Spoken at the start, without asking the model. Part of the history. */
  readonly greeting: string | ((call: CallFacts) => string);
  /** The author's own JSON, saved beside the history. Tools change it. Default: empty. */
  readonly data?: D;
  readonly tools?: Readonly<Record<string, Tool<D> | KeyedTool<D>>>;
  /** Exits that the surrounding bot of an {@link assistantStep} follows. */
  readonly exits?: Readonly<Record<string, Exit>>;
  /** Lets the model transfer the caller to a person, with a reason and a summary. Default false. */
  readonly transfer?: boolean | TransferRule<D>;
  /** Lets the model end the call when the caller is done. Default true. */
  readonly end?: boolean | { readonly says?: string; readonly outcome?: string };
  /** What happens to keys that no tool asked for: the model gets them as text (default), or the assistant refuses them. */
  readonly keys?: 'model' | 'off';
  /** The assistant's language, BCP 47. Decides the phrases. Default: English. */
  readonly language?: string;
  /** Languages to which the model may change, BCP 47. */
  readonly languages?: Readonly<
    Record<string, { readonly voice?: string; readonly greeting: string; readonly phrases?: Partial<Phrases> }>
  >;
  readonly limits?: Partial<AssistantLimits>;
  /** Changes the caller's words before a model gets them or a state stores them, for example to remove names. */
  readonly redact?: (text: string) => string;
  readonly phrases?: Partial<Phrases>;
  /** How to listen after each reply. */
  readonly listen?: ListenOptions;
  /** Called after every turn that asked a model or used up a limit. Errors of the callback are ignored. */
  readonly onTurn?: (turn: TurnReport) => void;
  /**
   * Called once, when the call and its running tools have ended, at most 2 s after the call. Errors of the callback are ignored. Not called
   * for an {@link assistantStep}.
   */
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
  /** Spoken when the model has said nothing itself. Default: `phrases.transferring`. */
  readonly says?: string;
  /** The options of the transfer. Only this function can set a routing hint; the model cannot. Default: the model's reason and summary. */
  readonly to?: (
    given: { readonly reason: string; readonly summary: string },
    context: { readonly call: CallFacts; readonly data: D },
  ) => TransferOptions;
}

/** Limits of an assistant. When one is exceeded, the caller is transferred, unless noted otherwise. */
export interface AssistantLimits extends ModelPatience {
  /** Turns of a call. Default 60. */
  readonly turns: number;
  /** Answers of the model in one turn: the first, and one after each round of tool uses. Default 6. */
  readonly rounds: number;
  /** Tokens of a call, sum of input and output. Default 200,000. */
  readonly tokens: number;
  /** Duration of a call, s. Default 1800. */
  readonly seconds: number;
  /** Longest history in a prompt, characters of JSON; older turns are omitted. Default 40,000. */
  readonly historyChars: number;
}

/** The state of an assistant during a call: plain JSON. The surrounding bot stores it in its own state. */
export interface AssistantState<D extends JsonObject = JsonObject> {
  readonly messages: readonly Message[];
  readonly data: D;
  readonly turns: number;
  readonly tokens: number;
  /** Number of tool uses so far. */
  readonly uses: number;
  /** Turns in a row in which the model failed. */
  readonly failures: number;
  /** Turns in a row in which the caller spoke, but no recognizer worked. */
  readonly unheard: number;
  /** Set when the model has changed the language, BCP 47. */
  readonly language?: string;
  /** Set when the `fallback` of a speech-to-speech model has taken over the call. */
  readonly isTakenOver?: true;
  /** Set while the caller is asked for digits. */
  readonly keying?: { readonly use: string; readonly tool: string; readonly tries: number };
}

/** The result of a turn: a reply, or an exit that the surrounding bot must follow. */
export type AssistantTurn<D extends JsonObject = JsonObject> =
  | { readonly state: AssistantState<D>; readonly reply: Reply; readonly exit?: undefined }
  | { readonly state: AssistantState<D>; readonly exit: string; readonly input: JsonValue };
