// One turn of the caller as it stands on a socket, and what an answer says. Decides nothing.
import { isClosing, type Answer } from '../../caller/answer.ts';
import type { TurnListener } from '../line.ts';

/** What a turn carries: caller audio, input that needs a reply, the first key of an entry (W-26), or the hang-up (W-28). */
type Kind = 'audio' | 'input' | 'key' | 'hang_up';

/** One turn as it stands on a socket. */
export class SocketTurn {
  readonly listener: TurnListener;
  kind: Kind = 'audio';
  isOver = false;
  isHalfClosed = false;
  /** Whether anything that the caller said was sent on it. */
  hasSpoken = false;
  /** Whether the server has reported speech on it. */
  hasHeardSpeech = false;
  /** Whether the server has taken what was said for complete. */
  isHeardOut = false;
  /** When it carried nothing more that could be heard, ms; undefined while it does. */
  deafAtMs: number | undefined;
  /** Whether it may stay without a reply, as an event of the flow may (G-72). */
  mayStaySilent = false;
  /** Whether its reply has begun to come. */
  isReplied = false;
  /** Whether it is answered although nobody has said anything. */
  isUnasked = false;
  /** When the caller came in between, so that its reply is not wanted any more, ms; undefined while it is. */
  cutAtMs: number | undefined;

  constructor(listener: TurnListener) {
    this.listener = listener;
  }

  /** Whether it carries what the caller says now. */
  get isListening(): boolean {
    return this.kind === 'audio' && !this.isOver && !this.isHalfClosed && !this.isHeardOut;
  }
}

/** Whether anything of an answer can be heard. */
export function hasSound({ prompts }: Answer): boolean {
  return prompts.some(({ audio }) => audio.length > 0);
}

/** Whether an answer says something, of which nothing may be cut. */
export function isUncuttable({ prompts }: Answer): boolean {
  const heard = prompts.filter(({ audio, text, uri }) => audio.length > 0 || text !== '' || uri !== '');
  return heard.length > 0 && heard.every(({ bargeIn }) => !bargeIn);
}

/** A FINAL that says nothing. */
export function isEmpty(answer: Answer): boolean {
  const isSilent = answer.prompts.every(({ audio, text, uri }) => audio.length === 0 && text === '' && uri === '');
  return isClosing(answer) && isSilent && answer.event === undefined;
}
