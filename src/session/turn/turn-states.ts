// The state table of a turn: its action for each state and event. No promises, no clock.

/** The states of a turn. */
export type TurnState =
  /** No input yet. */
  | 'waiting'
  /** Caller audio arrives, no speech yet. */
  | 'listening'
  /** The caller is speaking. */
  | 'hearing'
  /** The caller began to press keys; the digits come on another turn (G-60). */
  | 'keys'
  /** The input is complete and is being answered. */
  | 'answering'
  | 'done';

export type TurnEvent =
  | 'audio'
  | 'speech_started'
  | 'speech_ended'
  | 'key_started'
  | 'key_elsewhere'
  | 'complete_input'
  | 'hang_up'
  | 'half_close';

export type TurnAction =
  /** Pass the audio to the listener. */
  | 'listen'
  /** Report the start of speech (G-36). */
  | 'report_start'
  /** Report the end of speech and pass the utterance on (G-38). */
  | 'report_end'
  /** Stop listening: keys are coming (G-61). */
  | 'expect_keys'
  /** The first key came on another turn: drop the current speech (G-61). */
  | 'drop_speech'
  /** The first key came just after the end of speech: drop the reply to this speech (G-61). */
  | 'drop_reply'
  /** Pass the input to the bot. */
  | 'answer'
  /** The caller is gone (G-75). */
  | 'hang_up'
  /** The input ends while the caller speaks: end the utterance. */
  | 'cut_speech'
  /** The input ends and there is nothing to answer: complete without a response (G-61). */
  | 'complete'
  /** Legal, without effect. */
  | 'ignore'
  /** Illegal: logged, without effect on the current reply. */
  | 'refuse';

const SILENT_ACTIONS = { speech_started: 'ignore', speech_ended: 'ignore', key_elsewhere: 'ignore' } as const;

/** All transitions of a turn. */
const TURN_TABLE = {
  waiting: {
    ...SILENT_ACTIONS,
    audio: 'listen',
    key_started: 'expect_keys',
    complete_input: 'answer',
    hang_up: 'hang_up',
    half_close: 'complete',
  },
  listening: {
    audio: 'listen',
    speech_started: 'report_start',
    speech_ended: 'ignore',
    key_elsewhere: 'ignore',
    key_started: 'expect_keys',
    complete_input: 'answer',
    hang_up: 'hang_up',
    half_close: 'complete',
  },
  hearing: {
    audio: 'listen',
    speech_started: 'ignore',
    speech_ended: 'report_end',
    key_started: 'expect_keys',
    key_elsewhere: 'drop_speech',
    complete_input: 'answer',
    hang_up: 'hang_up',
    half_close: 'cut_speech',
  },
  keys: { ...SILENT_ACTIONS, audio: 'ignore', key_started: 'ignore', complete_input: 'answer', hang_up: 'hang_up', half_close: 'complete' },
  // Audio after the start of the reply is dropped (G-38); a second input on one turn is illegal.
  answering: {
    ...SILENT_ACTIONS,
    audio: 'ignore',
    key_started: 'drop_reply',
    complete_input: 'refuse',
    hang_up: 'hang_up',
    half_close: 'ignore',
  },
  done: { ...SILENT_ACTIONS, audio: 'ignore', key_started: 'ignore', complete_input: 'ignore', hang_up: 'ignore', half_close: 'ignore' },
} as const satisfies Record<TurnState, Record<TurnEvent, TurnAction>>;

/** The action for an event. */
export function turnAction(state: TurnState, event: TurnEvent): TurnAction {
  return TURN_TABLE[state][event];
}
