// The shape of a bot module and `bot()`, which creates every module's default export. Knows replies and events, but no sessions,
// timers or wires.
import type { Clock } from '../base/clock.ts';
import type { JsonValue } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';
import { LANGUAGE_TAG } from '../dialog/languages.ts';
import type { VoiceChoice } from '../dialog/reply.ts';
import type { TurnReport } from '../dialog/turn-report.ts';
import type {
  BargeIn,
  CallerEvent,
  CustomEvent,
  DtmfInput,
  HearingEvent,
  NoInput,
  NotifyingEvent,
  PrepareEvent,
  SessionEnded,
  SessionStart,
  SpeechInput,
  TurnEnded,
  TurnStarted,
} from './events.ts';
import { demandFillers, type Fillers } from './fillers.ts';
import type { BotEar, Live } from './live.ts';
import { checkedPatience, DEFAULT_PATIENCE, type SpeechPatience } from '../speech/patience.ts';
import type { MustTravel } from './must-travel.ts';
import type { Answer, Keep, Saying } from './saying.ts';
import type { BotServices } from './services.ts';
import type { Woken } from './wakes.ts';

export type * from './events.ts';

/** What a handler gets beside state and event. */
export interface BotContext<L = undefined> {
  readonly call: CallFacts;
  /** What {@link BotDefinition.live} has opened for this call. */
  readonly live: L;
  /** Names this turn in logs; unique within the call. */
  readonly turnId: string;
  /**
   * Aborts when the reply is no longer wanted (hang-up, barge-in, deadline, shutdown), and when the turn is over. Its reason is an
   * AbortError whose `cause` says why. An error thrown afterwards is ignored.
   */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Its lines carry the call's ids. Never log what the caller said or typed. */
  readonly log: Logger;
  /** Counts in the metrics what a language model and its tools did in this turn; assistants do it themselves. Undefined where nobody counts. */
  readonly report?: (turn: TurnReport) => void;
  /** Records and replays answers of models and tools; assistants use it themselves. Undefined where nobody records or replays. */
  readonly services?: BotServices;
}

/** What a replying handler may return. A generator speaks while it thinks, and makes checkpoints. */
export type Handled<S> =
  | Answer<S>
  | Promise<Answer<S>>
  | Generator<Saying | Keep<S>, Answer<S>>
  | AsyncGenerator<Saying | Keep<S>, Answer<S>>;

/** What a notified handler may return: a new state or nothing. */
export type Noted<S> = S | undefined | Promise<S | undefined>;

type Replies<S, E, L> = (state: S, event: E, context: BotContext<L>) => Handled<S>;
type Notes<S, E, L> = (state: S, event: E, context: BotContext<L>) => Noted<S>;

/** What a bot author writes. */
export interface BotDefinition<S, L = undefined, P = undefined> {
  /** Lower-case letters, digits and dashes. Must never change: the platform's flows store it (G-06). */
  readonly id: string;
  /** What administrators see. */
  readonly name: string;
  /** Of the state's shape. Increase it when old states no longer fit. */
  readonly version: number;
  /**
   * Converts a state of another version, so that calls continue when a new version is deployed. Without it, or when it throws or returns
   * undefined, a call of an older version starts over with the welcome, and the caller of a newer one is transferred. States of a newer
   * version come while servers of both run, and after a rollback: check `fromVersion`.
   */
  readonly migrate?: (state: JsonValue, fromVersion: number) => S | undefined;
  /** Who finds start and end of speech: the engine (default), or this bot, by `audio_input` and {@link BotEar}. */
  readonly endpointing?: 'engine' | 'bot';
  /** `none`, the default with `endpointing: 'bot'`: no recognizer gets the audio, and `text` is undefined. Default else: `engine`. */
  readonly recognition?: 'engine' | 'none';
  /** Who speaks, as the operator's synthesizer names it. Default: the operator's choice. */
  readonly voice?: string;
  /**
   * What this bot and its callers speak, BCP 47 (`es`, `es-MX`). Chooses voice, recognizer, the words that count as keys, and the lines that
   * the engine says itself. Default: the operator's choice.
   */
  readonly language?: string;
  /** Default: the operator's settings. */
  readonly speech?: Partial<SpeechPatience>;
  /** Only in chunk mode (G-40). Default: the operator's filler. */
  readonly filler?: Fillers;
  /** Texts that are synthesized before the first call. Never caller data. */
  readonly prompts?: readonly string[];
  /** What this bot opens for each call, such as a connection; handlers get it as `context.live`. */
  readonly live?: Live<S, L>;
  readonly session_start: (event: SessionStart, context: BotContext<L>) => Handled<S>;
  readonly dtmf_input?: Replies<S, DtmfInput, L>;
  readonly speech_input?: Replies<S, SpeechInput<P>, L>;
  readonly no_input?: Replies<S, NoInput, L>;
  readonly custom_event?: Replies<S, CustomEvent, L>;
  /**
   * The caller was silent for `wakeMs`, or {@link LiveContext.wake} was called. The reply may be silent: `go(state, listen())`. Without this
   * handler nothing wakes the bot.
   */
  readonly woken?: Replies<S, Woken, L>;
  /** Replies to every event of the caller without a handler of its own. */
  readonly otherwise: Replies<S, CallerEvent<P>, L>;
  readonly turn_started?: Notes<S, TurnStarted, L>;
  readonly barge_in?: Notes<S, BargeIn, L>;
  readonly turn_ended?: Notes<S, TurnEnded, L>;
  readonly session_end?: Notes<S, SessionEnded, L>;
  /** What was understood so far, five times a second at most. Only with `recognizer.stream`. */
  readonly hearing?: (event: HearingEvent, context: BotContext<L>) => void;
  /**
   * The caller pauses and may be done. Must change nothing: it runs up to three times for one input. What it returns comes to `speech_input`
   * as `prepared` when words, state and `heard` are still the same; else its signal aborts. Only with `recognizer.stream`.
   */
  readonly prepare?: (state: S, event: PrepareEvent, context: BotContext<L>) => P;
  /**
   * Every 20 ms of caller audio: 160 samples, 16 bit. Synchronous, on the audio path. Copy what you keep: the array is reused. `ear` is the
   * same object for the whole session, and may be used later.
   */
  readonly audio_input?: (pcm: Int16Array, call: CallFacts, ear: BotEar, live: L) => void;
}

/** The same in every copy of this package: the bots may come from another copy than the server. */
const MARK: unique symbol = Symbol.for('parley.bot');
/** The version of {@link Bot}'s shape. Raised when a server could not run a bot of the version before. */
const BOT_API = 1;

/** A bot as the engine runs it. */
export interface Bot {
  readonly [MARK]: typeof BOT_API;
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly prompts: readonly string[];
  start(event: SessionStart, context: BotContext<unknown>): Handled<JsonValue>;
  reply(state: JsonValue, event: CallerEvent<unknown>, context: BotContext<unknown>): Handled<JsonValue>;
  /** Undefined: nothing wakes this bot. */
  readonly woken: ((state: JsonValue, event: Woken, context: BotContext<unknown>) => Handled<JsonValue>) | undefined;
  /** Every event that this bot has a handler for, including `otherwise`, in the order of the API. */
  readonly handlers: readonly string[];
  /** The notifying events this bot has handlers for; others are not sent to it. */
  readonly notes: ReadonlySet<NotifyingEvent['type']>;
  /** Undefined when the bot keeps its state. */
  note(state: JsonValue, event: NotifyingEvent, context: BotContext<unknown>): Noted<JsonValue>;
  /** Present only when the bot wants audio, so that other bots cost nothing per frame. */
  readonly audioInput: ((pcm: Int16Array, call: CallFacts, ear: BotEar, live: unknown) => void) | undefined;
  readonly hearing: ((event: HearingEvent, context: BotContext<unknown>) => void) | undefined;
  readonly prepare: ((state: JsonValue, event: PrepareEvent, context: BotContext<unknown>) => unknown) | undefined;
  /** See {@link BotDefinition.live}; undefined when the bot opens nothing. */
  readonly live: Live<JsonValue, unknown> | undefined;
  readonly endpointing: 'engine' | 'bot';
  readonly recognition: 'engine' | 'none';
  /** Of all texts that name none themselves; undefined in bots of a package that had no choice. */
  readonly speaks: VoiceChoice | undefined;
  readonly speech: Partial<SpeechPatience>;
  /** Undefined: the operator's. */
  readonly filler: Fillers | undefined;
  /** See {@link BotDefinition.migrate}; undefined when old states cannot be used. */
  migrate(state: JsonValue, fromVersion: number): JsonValue | undefined;
}

const NOTIFYING = ['turn_started', 'barge_in', 'turn_ended', 'session_end'] as const satisfies readonly NotifyingEvent['type'][];

const HANDLERS = [
  ...(['session_start', 'dtmf_input', 'speech_input', 'no_input', 'custom_event', 'woken', 'otherwise'] as const),
  ...NOTIFYING,
  ...(['hearing', 'prepare', 'audio_input'] as const),
] as const;

/** Ids that the platform can store and people can type. */
const BOT_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;

/**
 * Creates a bot module's default export.
 *
 * @throws TypeError when session_start or otherwise are missing, or id, name, version, language, speech, filler or endpointing are invalid.
 */
export function bot<S, L = undefined, P = undefined>(definition: BotDefinition<S, L, P> & MustTravel<S>): Bot {
  const { id, name, version } = definition;
  if (!BOT_ID.test(id))
    throw new TypeError(`bot id "${id}" must be 1 to 64 lower-case letters, digits and dashes, not starting with a dash`);
  if (name.trim() === '') throw new TypeError(`bot "${id}" needs a name that administrators can read`);
  if (definition.endpointing === 'bot' && definition.audio_input === undefined)
    throw new TypeError(`bot "${id}" finds the end of speech itself, so it needs audio_input to hear the caller`);
  const { session_start: start, otherwise } = definition as Partial<typeof definition>;
  if (start === undefined || otherwise === undefined)
    throw new TypeError(`bot "${id}" needs session_start and otherwise, so that no event ends in silence`);
  if (!Number.isInteger(version) || version < 1) throw new TypeError(`bot "${id}" needs a whole version number from 1`);
  const { voice, language } = definition;
  if (language !== undefined && !LANGUAGE_TAG.test(language))
    throw new TypeError(`bot "${id}" speaks "${language}", which is no BCP 47 tag such as es or es-MX`);
  demandPatience(id, definition.speech ?? {});
  if (definition.filler !== undefined) demandFillers(id, definition.filler);

  // The engine keeps states as JSON. Every state it passes back came from this very bot's handlers (the snapshot names id and
  // version), went through JSON, and Travelling<S> allows only shapes that JSON keeps: so it is an S again. What `live` is comes from this
  // very definition.
  const handlers = definition as unknown as BotDefinition<JsonValue, unknown, unknown>;

  return {
    [MARK]: BOT_API,
    id,
    name,
    version,
    prompts: definition.prompts ?? [],
    handlers: HANDLERS.filter((event) => definition[event] !== undefined),
    notes: new Set(NOTIFYING.filter((type) => definition[type] !== undefined)),
    start: (event, context) => handlers.session_start(event, context),
    reply: (state, event, context) => replyOf(handlers, state, event, context),
    woken: handlers.woken,
    note: (state, event, context) => noteOf(handlers, state, event, context),
    hearing: handlers.hearing,
    prepare: handlers.prepare,
    audioInput: handlers.audio_input,
    live: handlers.live,
    endpointing: definition.endpointing ?? 'engine',
    recognition: definition.recognition ?? (definition.endpointing === 'bot' ? 'none' : 'engine'),
    speaks: { ...(voice !== undefined && { voice }), ...(language !== undefined && { language }) },
    speech: definition.speech ?? {},
    filler: definition.filler,
    migrate: (state, fromVersion) => handlers.migrate?.(state, fromVersion),
  };
}

/** Validated here and not in the first call, where it would cost a caller. */
function demandPatience(id: string, speech: Partial<SpeechPatience>): void {
  try {
    checkedPatience({ ...DEFAULT_PATIENCE, ...speech });
  } catch (cause) {
    throw new TypeError(`bot "${id}" listens impossibly: ${cause instanceof Error ? cause.message : 'unknown'}`, { cause });
  }
}

function replyOf(
  definition: BotDefinition<JsonValue, unknown, unknown>,
  state: JsonValue,
  event: CallerEvent<unknown>,
  context: BotContext<unknown>,
): Handled<JsonValue> {
  switch (event.type) {
    case 'dtmf_input':
      return (definition.dtmf_input ?? definition.otherwise)(state, event, context);
    case 'speech_input':
      return (definition.speech_input ?? definition.otherwise)(state, event, context);
    case 'no_input':
      return (definition.no_input ?? definition.otherwise)(state, event, context);
    case 'custom_event':
      return (definition.custom_event ?? definition.otherwise)(state, event, context);
  }
}

function noteOf(
  definition: BotDefinition<JsonValue, unknown, unknown>,
  state: JsonValue,
  event: NotifyingEvent,
  context: BotContext<unknown>,
): Noted<JsonValue> {
  switch (event.type) {
    case 'turn_started':
      return definition.turn_started?.(state, event, context);
    case 'barge_in':
      return definition.barge_in?.(state, event, context);
    case 'turn_ended':
      return definition.turn_ended?.(state, event, context);
    case 'session_end':
      return definition.session_end?.(state, event, context);
  }
}

/**
 * What {@link bot} made, also in another copy of this package: `bot`, or `other_api` when that copy makes bots of another shape, which
 * this server cannot run. Undefined for anything else.
 */
export function kindOfBot(value: unknown): 'bot' | 'other_api' | undefined {
  if (typeof value !== 'object' || value === null || !(MARK in value)) return undefined;
  return value[MARK] === BOT_API ? 'bot' : 'other_api';
}

/** True for bots that this server can run, also those made by another copy of this package. */
export function isBot(value: unknown): value is Bot {
  return kindOfBot(value) === 'bot';
}
