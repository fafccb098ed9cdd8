// The events of a call, as bots get them.
import type { JsonObject } from '../base/json.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { Heard } from '../dialog/heard.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { Woken } from './wakes.ts';

/** The call begins; the reply is the welcome. */
export interface SessionStart {
  readonly type: 'session_start';
  /** Of the data from the platform's flow (G-24); empty when it sends none. */
  readonly name: string;
  readonly parameters: JsonObject;
}

/** What every event of the caller has. */
export interface AfterReply {
  readonly heard: Heard;
}

/** The caller pressed keys, or spoke digits alone where digits were asked for. */
export interface DtmfInput extends AfterReply {
  readonly type: 'dtmf_input';
  readonly by: 'keys' | 'speech';
  /** `0`-`9`, `*`, `#`, `A`-`D`, without the terminator; may be empty after a time-out (G-65). */
  readonly digits: string;
}

/** The caller said something. */
export interface SpeechInput<P = undefined> extends AfterReply {
  readonly type: 'speech_input';
  readonly utterance: Utterance;
  readonly text: string | undefined;
  /** `words`: there is a text. Else why not: it held no words, the recognizer failed, or was not asked. */
  readonly understood: 'words' | 'nothing' | 'failed' | 'not_asked';
  /** What `prepare` has made of exactly these words. */
  readonly prepared?: P | undefined;
}

/** The caller did nothing within the configured time (G-70). */
export interface NoInput extends AfterReply {
  readonly type: 'no_input';
  /** How many times in a row, this one included: 1, 2, … See {@link ladder}. */
  readonly count: number;
}

/** The platform's flow sent a custom event (G-72). */
export interface CustomEvent extends AfterReply {
  readonly type: 'custom_event';
  readonly name: string;
  readonly parameters: JsonObject;
}

/** Events of the caller that want a reply. */
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

/** Events without a reply. */
export type NotifyingEvent = TurnStarted | BargeIn | TurnEnded | SessionEnded;
