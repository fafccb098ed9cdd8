// What a turn may do when: one table of state and event. No promise and no clock in here; the turn looks up, then acts.

/** States of one turn. */
export type TurnState =
  /** Nothing has arrived. */
  | 'waiting'
  /** Caller audio flows, no speech yet. */
  | 'listening'
  /** The caller is speaking. */
  | 'hearing'
  /** The caller began to press keys; the digits come on a turn of their own (G-60). */
  | 'keys'
  /** The input is complete, the bot owes the reply. */
  | 'answering'
  | 'done';

/** What can happen to a turn. */
export type TurnEvent =
  'audio' | 'speech_started' | 'speech_ended' | 'key_started' | 'key_elsewhere' | 'complete_input' | 'hang_up' | 'half_close';

/** What the turn does about it. */
export type TurnAction =
  /** Feed the audio to the ear. */
  | 'listen'
  /** Report the start of speech (G-36). */
  | 'report_start'
  /** Report the end of speech and hand the utterance over (G-38). */
  | 'report_end'
  /** Stop listening: keys are coming (G-61). */
  | 'expect_keys'
  /** The first key came on another turn: what is being said there is no input any more (G-61). */
  | 'drop_speech'
  /** The first key came just after the speech was taken for complete: nobody waits for its reply (G-61). */
  | 'drop_reply'
  /** Hand the input to the bot. */
  | 'answer'
  /** The caller is gone (G-75). */
  | 'hang_up'
  /** Input is over in the middle of speech: the utterance ends here. */
  | 'cut_speech'
  /** Input is over and nothing is owed: complete without a response (G-61). */
  | 'complete'
  /** Legal and without effect. */
  | 'ignore'
  /** Breaks the turn grammar: noted, without effect on the reply under way. */
  | 'refuse';

const SILENT_ACTIONS = { speech_started: 'ignore', speech_ended: 'ignore', key_elsewhere: 'ignore' } as const;

/** The whole grammar of a turn. */
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
  // Audio still under way when the reply begins is dropped (G-38); a second input on one turn is no part of the grammar.
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

/** Looks up what to do. */
export function turnAction(state: TurnState, event: TurnEvent): TurnAction {
  return TURN_TABLE[state][event];
}
