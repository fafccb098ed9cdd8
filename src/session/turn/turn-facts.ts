// What a turn knows of its call, and what it reports of its caller. Types only.
import type { JsonObject } from '../../base/json.ts';
import type { CallFacts } from '../../dialog/call.ts';
import type { TurnEnd } from '../../dialog/ending.ts';
import type { DeliveryMode, ListenSettings } from '../../dialog/output.ts';
import type { Utterance } from '../../dialog/utterance.ts';

/** What a turn knows of its call. */
export interface TurnCall {
  readonly call: CallFacts;
  readonly mode: DeliveryMode;
  /** What the caller is asked for at present. */
  readonly asked: ListenSettings;
}

/** An input that is whole and wants a reply. */
export type TurnInput =
  | { readonly kind: 'session_start'; readonly name: string; readonly parameters: JsonObject }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'speech'; readonly utterance: Utterance }
  | { readonly kind: 'no_input' }
  | { readonly kind: 'custom_event'; readonly name: string; readonly parameters: JsonObject };

/** The same as the turn knows it: what was said is in the ear. */
export type BroughtInput = Exclude<TurnInput, { readonly kind: 'speech' }> | { readonly kind: 'speech' };

/** What happened on a turn. Its session acts on it, and answers nothing. */
export type TurnFact =
  /** The caller began to speak. */
  | { readonly kind: 'speech_started' }
  /** The caller may be done, or went on after all. */
  | { readonly kind: 'end_suspected'; readonly isSuspected: boolean }
  /** The first key was pressed; on a turn that is being answered its own reply is not wanted any more either. */
  | { readonly kind: 'key_started'; readonly isReplyDropped: boolean }
  | { readonly kind: 'input_complete'; readonly input: BroughtInput }
  /** The platform has sent everything, and the caller was speaking. */
  | { readonly kind: 'speech_cut' }
  /** A second input came on a turn that is being answered. */
  | { readonly kind: 'input_refused' }
  | { readonly kind: 'hung_up' }
  | { readonly kind: 'closed'; readonly end: TurnEnd };
