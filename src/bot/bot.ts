// The shape of a bot module and the constructor that every module's default export comes from. Knows replies and
// events, nothing of sessions, timers or wires.
import type { Clock } from '../base/clock.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { Answer, Saying } from './saying.ts';

/** The call begins; its answer is the welcome. */
export interface SessionStart {
  readonly type: 'session_start';
  /** What the platform's flow calls the data it sends along; empty when it sends none (G-24). */
  readonly name: string;
  /** Data set in the platform's flow (G-24). */
  readonly parameters: JsonObject;
}

/** The caller pressed keys. */
export interface DtmfInput {
  readonly type: 'dtmf_input';
  /** `0`-`9`, `*`, `#`, `A`-`D`, without the terminator; may be empty when the collector timed out (G-65). */
  readonly digits: string;
}

/** The caller said something. */
export interface SpeechInput {
  readonly type: 'speech_input';
  readonly utterance: Utterance;
  /** What a recognizer understood; undefined without one, or when it understood nothing. */
  readonly text: string | undefined;
}

/** The caller did nothing for the time that was set (G-70). */
export interface NoInput {
  readonly type: 'no_input';
}

/** The platform's flow sent an event of its own (G-72). */
export interface CustomEvent {
  readonly type: 'custom_event';
  readonly name: string;
  readonly parameters: JsonObject;
}

/** Events that want a reply and follow a session's start. */
export type CallerEvent = DtmfInput | SpeechInput | NoInput | CustomEvent;
/** Every event that wants a reply. */
export type ReplyingEvent = SessionStart | CallerEvent;

/** A turn of the platform began; the caller may be about to act. */
export interface TurnStarted {
  readonly type: 'turn_started';
}

/** The caller spoke or pressed a key while a reply was still playing. */
export interface BargeIn {
  readonly type: 'barge_in';
  readonly by: 'speech' | 'keys';
  /** How much of the reply the caller has heard, ms, estimated by the playback clock. */
  readonly heardMs: number;
}

/** A turn is over. */
export interface TurnEnded {
  readonly type: 'turn_ended';
  readonly reason: TurnEnd;
}

/** The session is over; nothing can be said any more. */
export interface SessionEnded {
  readonly type: 'session_end';
  readonly by: SessionEnd;
}

/** Events a bot is told of and cannot reply to. */
export type NotifyingEvent = TurnStarted | BargeIn | TurnEnded | SessionEnded;

/** What surrounds a handler. */
export interface BotContext {
  readonly call: CallFacts;
  /** Names this turn in logs; unique within the call. */
  readonly turnId: string;
  /** Aborts when the reply is no longer wanted (hang-up, barge-in, deadline, shutdown), and when the turn is over. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Carries the call's ids. Never log what the caller said or typed. */
  readonly log: Logger;
}

/** What a replying handler may return: an answer, a promise of it, or a generator that speaks while it thinks. */
export type Handled<S> = Answer<S> | Promise<Answer<S>> | Generator<Saying, Answer<S>> | AsyncGenerator<Saying, Answer<S>>;

/** What a notified handler may return: a new state or nothing. */
export type Noted<S> = S | undefined | Promise<S | undefined>;

type Replies<S, E> = (state: S, event: E, context: BotContext) => Handled<S>;
type Notes<S, E> = (state: S, event: E, context: BotContext) => Noted<S>;

/** What a bot author writes. Handler names are the platform's event names. */
export interface BotDefinition<S> {
  /** Stable for ever: the platform stores it in its flows (G-06). Lower-case letters, digits and dashes. */
  readonly id: string;
  /** What administrators see. */
  readonly name: string;
  /** Version of the state's shape; raise it when old states no longer fit. */
  readonly version: number;
  /** Texts this bot says word for word; spoken and stored before the first call. Never caller data. */
  readonly prompts?: readonly string[];
  readonly session_start: (event: SessionStart, context: BotContext) => Handled<S>;
  readonly dtmf_input?: Replies<S, DtmfInput>;
  readonly speech_input?: Replies<S, SpeechInput>;
  readonly no_input?: Replies<S, NoInput>;
  readonly custom_event?: Replies<S, CustomEvent>;
  /** Answers every event without a handler of its own, so that none can end in silence. */
  readonly otherwise: Replies<S, CallerEvent>;
  readonly turn_started?: Notes<S, TurnStarted>;
  readonly barge_in?: Notes<S, BargeIn>;
  readonly turn_ended?: Notes<S, TurnEnded>;
  readonly session_end?: Notes<S, SessionEnded>;
  /**
   * Every 20 ms of caller audio: 160 samples, 16 bit, 8 kHz. Synchronous, on the audio path: copy what you keep, the
   * array is reused for the next frame.
   */
  readonly audio_input?: (pcm: Int16Array, call: CallFacts) => void;
}

/** The JSON form of a state's type; `never` wherever JSON would lose something. */
type Travelling<S> = S extends null | undefined | boolean | number | string
  ? S
  : S extends Unfit
    ? never
    : S extends object
      ? { [K in keyof S]: Travelling<S[K]> }
      : never;

type Unfit =
  | ((...args: never[]) => unknown)
  | Date
  | RegExp
  | Promise<unknown>
  | ArrayBufferView
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>;

/**
 * A state that cannot travel between machines does not compile: functions, symbols, BigInt, Map, Set, Date, typed arrays
 * and objects with methods ask for a member nobody can give, whose name is the explanation.
 */
export type MustTravel<S> = [S] extends [Travelling<S>]
  ? unknown
  : { readonly 'a bot state must survive JSON: no functions, Map, Set, Date or typed arrays': never };

const MARK: unique symbol = Symbol.for('parley.bot');

/** A bot as the engine runs it: its state is JSON, its events come through two doors. */
export interface Bot {
  readonly [MARK]: true;
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly prompts: readonly string[];
  start(event: SessionStart, context: BotContext): Handled<JsonValue>;
  reply(state: JsonValue, event: CallerEvent, context: BotContext): Handled<JsonValue>;
  /** The notifying events this bot has handlers for; others need not be brought to it. */
  readonly notes: ReadonlySet<NotifyingEvent['type']>;
  /** Undefined when the bot keeps its state. */
  note(state: JsonValue, event: NotifyingEvent, context: BotContext): Noted<JsonValue>;
  /** Present only when the bot listens to audio, so that other bots cost nothing per frame. */
  readonly audioInput: ((pcm: Int16Array, call: CallFacts) => void) | undefined;
}

const NOTIFYING = ['turn_started', 'barge_in', 'turn_ended', 'session_end'] as const satisfies readonly NotifyingEvent['type'][];

/** Ids the platform can store and people can type. */
const BOT_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;

/**
 * Makes a bot module's default export.
 *
 * @throws TypeError when id, name or version break their rules; nothing else is checked at run time that compiles.
 */
export function bot<S>(definition: BotDefinition<S> & MustTravel<S>): Bot {
  const { id, name, version } = definition;
  if (!BOT_ID.test(id))
    throw new TypeError(`bot id "${id}" must be 1 to 64 lower-case letters, digits and dashes, not starting with a dash`);
  if (name.trim() === '') throw new TypeError(`bot "${id}" needs a name that administrators can read`);
  if (!Number.isInteger(version) || version < 1) throw new TypeError(`bot "${id}" needs a whole version number from 1`);

  // The engine keeps states as JSON. Every state it hands back came out of this very bot's handlers (the record names
  // id and version), went through JSON, and Travelling<S> allows only shapes that JSON keeps: so it is an S again.
  const own = (state: JsonValue): S => state as unknown as S;
  const handled = (result: Handled<S>): Handled<JsonValue> => result as unknown as Handled<JsonValue>;
  const noted = (result: Noted<S>): Noted<JsonValue> => result as unknown as Noted<JsonValue>;

  return {
    [MARK]: true,
    id,
    name,
    version,
    prompts: definition.prompts ?? [],
    notes: new Set(NOTIFYING.filter((type) => definition[type] !== undefined)),
    start: (event, context) => handled(definition.session_start(event, context)),
    reply: (state, event, context) => handled(replyOf(definition, own(state), event, context)),
    note: (state, event, context) => noted(noteOf(definition, own(state), event, context)),
    audioInput: definition.audio_input,
  };
}

function replyOf<S>(definition: BotDefinition<S>, state: S, event: CallerEvent, context: BotContext): Handled<S> {
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

function noteOf<S>(definition: BotDefinition<S>, state: S, event: NotifyingEvent, context: BotContext): Noted<S> {
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

/** True for values made by {@link bot}, also by another copy of this module. */
export function isBot(value: unknown): value is Bot {
  return typeof value === 'object' && value !== null && MARK in value;
}
