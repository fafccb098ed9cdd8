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
  /** Whether any speech of the caller was sent on it. */
  hasSpoken = false;
  hasHeardSpeech = false;
  /** Whether the server has taken the speech for complete. */
  isHeardOut = false;
  /** When it carried nothing audible any more, ms; undefined while it does. */
  deafAtMs: number | undefined;
  /** Whether it may get no reply, as an event of the flow (G-72). */
  mayStaySilent = false;
  /** Whether its reply has begun. */
  isReplied = false;
  /** Whether it gets an answer although nobody spoke. */
  isUnasked = false;
  /** When the caller interrupted, so that its reply is no longer wanted, ms; undefined before. */
  cutAtMs: number | undefined;

  constructor(listener: TurnListener) {
    this.listener = listener;
  }

  /** Whether it carries what the caller says now. */
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

/** A FINAL without content. */
export function isEmpty(answer: Answer): boolean {
  const isSilent = answer.prompts.every(({ audio, text, uri }) => audio.length === 0 && text === '' && uri === '');
  return isClosing(answer) && isSilent && answer.event === undefined;
}
