// The words of envelopes and their meaning here: kinds of answers, events and inputs. Any other word is unknown;
// its reader decides what that means.
import type { AnswerType, InputMode, ServerEventKind } from '../../caller/answer.ts';

/** By `response_type`. */
export const ANSWER_TYPES: ReadonlyMap<unknown, AnswerType> = new Map([
  ['FINAL', 'final'],
  ['PARTIAL', 'partial'],
  ['CHUNK', 'chunk'],
]);

/** By `event_type`. */
export const EVENT_KINDS: ReadonlyMap<unknown, ServerEventKind> = new Map([
  ['SESSION_END', 'session_end'],
  ['TRANSFER_TO_AGENT', 'transfer'],
  ['CUSTOM_EVENT', 'custom_event'],
  ['START_OF_INPUT', 'start_of_input'],
  ['END_OF_INPUT', 'end_of_input'],
  ['NO_MATCH', 'no_match'],
  ['NO_INPUT', 'no_input'],
]);

/** By `input_mode`. */
export const INPUT_MODES: ReadonlyMap<unknown, InputMode> = new Map([
  ['INPUT_VOICE', 'voice'],
  ['INPUT_EVENT_DTMF', 'dtmf'],
  ['INPUT_VOICE_DTMF', 'voice_dtmf'],
]);
