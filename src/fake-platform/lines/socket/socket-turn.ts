// The state of one turn of the caller on a socket, and what an answer contains. Decides nothing.
import { isClosing, type Answer } from '../../caller/answer.ts';
import type { TurnListener } from '../line.ts';

/** What a turn carries: caller audio, input that needs a reply, the first key of an entry (W-26), or the hang-up (W-28). */
type Kind = 'audio' | 'input' | 'key' | 'hang_up';

export class SocketTurn {
  readonly listener: TurnListener;
  kind: Kind = 'audio';
  isOver = false;
  isHalfClosed = false;
  /** Whether the caller's speech was sent on this turn. */
  hasSpoken = false;
  hasHeardSpeech = false;
  /** Whether the server has reported the end of the speech, or has replied without that. */
  isHeardOut = false;
  /** Since when the turn carries no more audio of the caller, ms; undefined while it does. */
  deafAtMs: number | undefined;
  /** Whether the turn may get no reply, as for an event of the flow (G-72). */
  mayStaySilent = false;
  /** Whether the turn's reply has begun. */
  isReplied = false;
  /** Whether the turn got an answer although nobody spoke. */
  isUnasked = false;
  /** Set when the caller interrupted, ms: the turn's reply is no longer wanted. */
  cutAtMs: number | undefined;

  constructor(listener: TurnListener) {
    this.listener = listener;
  }

  /** Whether the turn carries what the caller says now. */
  get isListening(): boolean {
    return this.kind === 'audio' && !this.isOver && !this.isHalfClosed && !this.isHeardOut;
  }
}

/** Whether an answer contains anything audible. */
export function hasSound({ prompts }: Answer): boolean {
  return prompts.some(({ audio }) => audio.length > 0);
}

/** Whether an answer contains a prompt that may not be interrupted. */
export function isUncuttable({ prompts }: Answer): boolean {
  const heard = prompts.filter(({ audio, text, uri }) => audio.length > 0 || text !== '' || uri !== '');
  return heard.length > 0 && heard.every(({ bargeIn }) => !bargeIn);
}

/** Whether an answer is a closing FINAL without content. */
export function isEmpty(answer: Answer): boolean {
  const isSilent = answer.prompts.every(({ audio, text, uri }) => audio.length === 0 && text === '' && uri === '');
  return isClosing(answer) && isSilent && answer.event === undefined;
}
