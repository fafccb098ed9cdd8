// The events of a call, as bots get them.
import type { JsonObject } from '../base/json.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { Heard } from '../dialog/heard.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { Woken } from './wakes.ts';

/** The call begins; the reply is the welcome. */
export interface SessionStart {
  readonly type: 'session_start';
  /** The name of the data in the platform's flow; empty when it sends none (G-24). */
  readonly name: string;
  /** Data set in the platform's flow (G-24). */
  readonly parameters: JsonObject;
}

/** How every caller event reports the previous reply. */
export interface AfterReply {
  /** How much of the last reply the caller has heard before this event. */
  readonly heard: Heard;
}

/** The caller pressed keys, or spoke only digits where digits were asked for. */
export interface DtmfInput extends AfterReply {
  readonly type: 'dtmf_input';
  /** Pressed, or spoken and recognized. */
  readonly by: 'keys' | 'speech';
  /** `0`-`9`, `*`, `#`, `A`-`D`, without the terminator; may be empty when the collection timed out (G-65). */
  readonly digits: string;
}

/** The caller said something. */
export interface SpeechInput<P = undefined> extends AfterReply {
  readonly type: 'speech_input';
  readonly utterance: Utterance;
  /** The recognized text; undefined in all other cases: see `understood`. */
  readonly text: string | undefined;
  /** Why there is no text: the utterance held no words, the recognizer failed, or it was not asked. */
  readonly understood: 'words' | 'nothing' | 'failed' | 'not_asked';
  /** What `prepare` of the bot has made of exactly these words; undefined: nothing. */
  readonly prepared?: P | undefined;
}

/** The caller did nothing within the configured time (G-70). */
export interface NoInput extends AfterReply {
  readonly type: 'no_input';
  /** How many times in a row nothing came, including this one: 1, 2, … See {@link ladder}. */
  readonly count: number;
}

/** The platform's flow sent a custom event (G-72). */
export interface CustomEvent extends AfterReply {
  readonly type: 'custom_event';
  readonly name: string;
  readonly parameters: JsonObject;
}

/** Events that want a reply and follow a session's start. */
export type CallerEvent<P = undefined> = DtmfInput | SpeechInput<P> | NoInput | CustomEvent;
/** Every event that wants a reply. */
export type ReplyingEvent = SessionStart | CallerEvent<unknown> | Woken;

/** What was understood of an utterance that goes on. */
export interface HearingEvent {
  readonly text: string;
  /** The beginning of `text` that later words do not change. */
  readonly stable: string;
}

/** The caller pauses after these words and may be done. */
export interface PrepareEvent extends AfterReply {
  readonly text: string;
}

/** The platform opened a turn; the caller may be about to act. */
export interface TurnStarted {
  readonly type: 'turn_started';
}

/** The caller spoke or pressed a key while a reply was still playing. */
export interface BargeIn {
  readonly type: 'barge_in';
  readonly by: 'speech' | 'keys';
  /** How much of the reply the caller had heard by then. */
  readonly heard: Heard;
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

/** Events that notify a bot; it cannot reply to them. */
export type NotifyingEvent = TurnStarted | BargeIn | TurnEnded | SessionEnded;
