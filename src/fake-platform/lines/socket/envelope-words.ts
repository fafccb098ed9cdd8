// The words of envelopes for kinds of answers, events and inputs, and our words for them. Whoever reads an unknown word decides what it
// means.
import type { AnswerType, InputMode, ServerEventKind } from '../../caller/answer.ts';

/** By the value of `response_type`. */
export const ANSWER_TYPES: ReadonlyMap<unknown, AnswerType> = new Map([
  ['FINAL', 'final'],
  ['PARTIAL', 'partial'],
  ['CHUNK', 'chunk'],
]);

/** By the value of `event_type`. */
export const EVENT_KINDS: ReadonlyMap<unknown, ServerEventKind> = new Map([
  ['SESSION_END', 'session_end'],
  ['TRANSFER_TO_AGENT', 'transfer'],
  ['CUSTOM_EVENT', 'custom_event'],
  ['START_OF_INPUT', 'start_of_input'],
  ['END_OF_INPUT', 'end_of_input'],
  ['NO_MATCH', 'no_match'],
  ['NO_INPUT', 'no_input'],
]);

/** By the value of `input_mode`. */
export const INPUT_MODES: ReadonlyMap<unknown, InputMode> = new Map([
  ['INPUT_VOICE', 'voice'],
  ['INPUT_EVENT_DTMF', 'dtmf'],
  ['INPUT_VOICE_DTMF', 'voice_dtmf'],
]);
