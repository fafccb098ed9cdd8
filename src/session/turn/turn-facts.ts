// The facts of a call that its turns get, and the facts that turns report. Types only.
import type { JsonObject } from '../../base/json.ts';
import type { CallFacts } from '../../dialog/call.ts';
import type { TurnEnd } from '../../dialog/ending.ts';
import type { DeliveryMode, ListenSettings } from '../../dialog/output.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { CallRecorder } from '../ports.ts';

export interface TurnCall {
  readonly call: CallFacts;
  readonly mode: DeliveryMode;
  /** Whether the bot wants words but the server has no recognizer. */
  readonly isWithoutWords: boolean;
  /** The current listen settings. */
  readonly asked: ListenSettings;
  /** Undefined: the call is not recorded. */
  readonly recorder?: CallRecorder | undefined;
}

/** A complete input that needs a reply. */
export type TurnInput =
  | { readonly kind: 'session_start'; readonly name: string; readonly parameters: JsonObject }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'speech'; readonly utterance: Utterance }
  | { readonly kind: 'no_input' }
  | { readonly kind: 'custom_event'; readonly name: string; readonly parameters: JsonObject };

/** A complete input as a turn reports it: without the utterance, which the audio listener keeps. */
export type BroughtInput = Exclude<TurnInput, { readonly kind: 'speech' }> | { readonly kind: 'speech' };

/** A fact that a turn reports to its session. */
export type TurnFact =
  /** The caller began to speak. */
  | { readonly kind: 'speech_started' }
  /** The caller may have finished, or went on after all. */
  | { readonly kind: 'end_suspected'; readonly isSuspected: boolean }
  /** The first key was pressed. `isReplyDropped`: the turn's own reply is dropped as well. */
  | { readonly kind: 'key_started'; readonly isReplyDropped: boolean }
  | { readonly kind: 'input_complete'; readonly input: BroughtInput }
  /** The input ended while the caller was speaking. */
  | { readonly kind: 'speech_cut' }
  /** A second input came on a turn that is being answered. */
  | { readonly kind: 'input_refused' }
  | { readonly kind: 'hung_up' }
  | { readonly kind: 'closed'; readonly end: TurnEnd };
