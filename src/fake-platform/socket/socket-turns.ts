// Whose an answer on a socket is. The caller's side works in turns, each with its own answers and its end, while on a socket
// all answers of a call come one after the other (W-23, W-24): they belong to the input that waits for a reply longest. Knows
// no socket; says what cannot be anybody's.
import { isClosing, isTerminalEvent, type Answer } from '../answer.ts';
import type { LineEnd, PlatformInput, TurnListener } from '../line.ts';
import type { Breach } from '../wire-rules.ts';

/** What a turn carries: caller audio, input that owes a reply, the first key of an entry (W-26), or the hang-up (W-28). */
type Kind = 'audio' | 'input' | 'key' | 'hang_up';

/** One turn as it stands on a socket. */
export class SocketTurn {
  readonly listener: TurnListener;
  kind: Kind = 'audio';
  isOver = false;
  isHalfClosed = false;
  /** Whether the server has reported speech on it. */
  hasHeardSpeech = false;
  /** Whether the server has taken what was said for complete. */
  isHeardOut = false;
  /** Whether its reply has begun to come. */
  isReplied = false;
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

/** How long the FINAL of a reply that was cut is waited for, ms: what comes later belongs to what was said since. */
const CUT_REPLY_MS = 1000;

/** The turns of one call. */
export class SocketTurns {
  readonly #nowMs: () => number;
  readonly #found: (breach: Breach) => void;
  readonly #turns: SocketTurn[] = [];
  /** Turns that wait for a reply, the one that waits longest first; a turn that was given up may be among them. */
  #owed: SocketTurn[] = [];
  #lastHeard: SocketTurn | undefined;
  #hasEnded = false;
  #end: LineEnd | undefined;

  constructor(nowMs: () => number, found: (breach: Breach) => void) {
    this.#nowMs = nowMs;
    this.#found = found;
  }

  /** Whether the server has said that the call ends. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Opens a turn; on a socket that is gone it ends at once, after its caller has it in hand. */
  open(listener: TurnListener): SocketTurn {
    const turn = new SocketTurn(listener);
    this.#turns.push(turn);
    if (this.#end !== undefined) this.#endSoon(turn, this.#end);
    return turn;
  }

  /** Something is sent on a turn. */
  sent(turn: SocketTurn, { kind }: PlatformInput): void {
    switch (kind) {
      case 'audio':
      case 'audio_format':
        return;
      case 'dtmf_start':
        turn.kind = 'key';
        this.#cut();
        return;
      case 'session_end':
        turn.kind = 'hang_up';
        return;
      case 'dtmf':
        // Without START_OF_DTMF before it, the digits themselves come in between (G-64).
        this.#cut();
        break;
      case 'session_start':
      case 'no_input':
      case 'custom_event':
    }
    turn.kind = 'input';
    this.#owed.push(turn);
  }

  /** Nothing more is sent on a turn. One that owes nothing is complete then: the socket itself knows no half-close (W-23). */
  halfClose(turn: SocketTurn): void {
    if (turn.isHalfClosed) return;
    turn.isHalfClosed = true;
    const isComplete = turn.kind === 'key' || (turn.kind === 'audio' && !this.#owed.includes(turn));
    if (isComplete) this.#endSoon(turn, { kind: 'completed', promptTexts: [] });
  }

  /** A turn is given up. The reply that it may owe is still on its way, and nobody's. */
  cancel(turn: SocketTurn): void {
    turn.isHalfClosed = true;
    turn.cutAtMs ??= this.#nowMs();
    this.#endSoon(turn, { kind: 'broken', failure: { code: 'closed_early', message: 'the turn was given up' } });
  }

  /** Hands an answer to the turn it belongs to. `promptTexts`: what the reply said, where its FINAL names it. */
  take(answer: Answer, promptTexts: readonly string[]): void {
    if (isTerminalEvent(answer.event)) this.#hasEnded = true;
    const isClosed = isClosing(answer);
    const kind = answer.event?.kind;
    if (!isClosed && kind === 'start_of_input') {
      this.#inputStarted(answer);
      return;
    }
    if (!isClosed && kind === 'end_of_input') {
      this.#inputEnded(answer);
      return;
    }
    const turn = this.#whose(answer);
    if (turn === undefined) return;
    // A server may reply without reporting the end of speech first.
    if (turn.kind === 'audio' && !turn.isHeardOut) {
      turn.isHeardOut = true;
      this.#owed.push(turn);
    }
    turn.isReplied = true;
    if (isClosed) this.#settle(turn);
    if (!turn.isOver) turn.listener.answered(answer);
    if (isClosed && turn.kind !== 'hang_up') this.#over(turn, { kind: 'completed', promptTexts });
  }

  /** The socket is gone: whatever is open ends so, and what is opened later, too. */
  close(end: LineEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#owed = [];
    for (const turn of [...this.#turns]) this.#over(turn, end);
  }

  /** The turn that carries what the caller says now. */
  get #ear(): SocketTurn | undefined {
    return this.#turns.findLast(({ isListening }) => isListening);
  }

  #inputStarted(answer: Answer): void {
    const turn = this.#ear;
    if (turn === undefined) {
      this.#tellOfNoInput(answer);
      return;
    }
    turn.hasHeardSpeech = true;
    this.#lastHeard = turn;
    this.#cut();
    turn.listener.answered(answer);
  }

  #inputEnded(answer: Answer): void {
    const turn = this.#ear;
    if (turn === undefined) {
      this.#tellOfNoInput(answer);
      return;
    }
    // What was cut has had its time: the next answer is the one to this input.
    this.#dropCut();
    turn.isHeardOut = true;
    this.#owed.push(turn);
    turn.listener.answered(answer);
  }

  /** An event about speech while nobody listens: on its way it may have crossed the end of the turn that did. */
  #tellOfNoInput(answer: Answer): void {
    const wasListening = this.#turns.findLast(({ kind }) => kind === 'audio' || kind === 'key');
    if (wasListening !== undefined && (wasListening !== this.#lastHeard || answer.event?.kind === 'end_of_input')) {
      this.#lastHeard = wasListening;
      return;
    }
    this.#turns.findLast(({ isOver }) => !isOver)?.listener.answered(answer);
  }

  #whose(answer: Answer): SocketTurn | undefined {
    const ear = this.#ear;
    if (isTerminalEvent(answer.event)) {
      const wanted = this.#owed.find(({ cutAtMs }) => cutAtMs === undefined);
      if (wanted !== undefined) return wanted;
    }
    this.#forgetCut();
    const [first] = this.#owed;
    if (first !== undefined) {
      if (first.cutAtMs === undefined || ear?.hasHeardSpeech !== true) return first;
      if (isUncuttable(answer)) {
        // What was cut could be: these are last words (W-29), or the reply to what is said now. Of the old one nothing more is heard.
        this.#dropCut();
        return ear;
      }
      // A reply that had not begun may be to an input that the server took while the caller spoke.
      if (first.isReplied && hasSound(answer)) {
        const message = 'a reply went on although its caller was reported to speak; what is left of it may not be sent';
        this.#found({ code: 'old_reply_goes_on', rule: 'W-27', message });
      }
      return first;
    }
    const leaving = this.#turns.findLast(({ kind, isOver }) => kind === 'hang_up' && !isOver);
    if (leaving !== undefined) return leaving;
    if (ear !== undefined && (ear.hasHeardSpeech || !isEmpty(answer))) return ear;
    this.#tellOfNobody(answer);
    return undefined;
  }

  #tellOfNobody(answer: Answer): void {
    if (this.#turns.at(-1)?.kind === 'key') {
      this.#found({ code: 'answer_to_key_press', rule: 'W-26', message: 'START_OF_DTMF was answered; it needs no reply' });
    } else if (isEmpty(answer)) {
      this.#found({ code: 'second_final', rule: 'W-24', message: 'more than one closing FINAL came for one reply' });
    } else {
      this.#found({ code: 'answer_unasked', rule: 'W-24', message: 'an answer came behind the FINAL of its reply' });
    }
  }

  /** The caller comes in between: no reply that is under way is wanted any more. */
  #cut(): void {
    const nowMs = this.#nowMs();
    for (const turn of this.#owed) turn.cutAtMs ??= nowMs;
  }

  /** Gives up replies that were cut and have not closed, where something newer waits for its own. */
  #forgetCut(): void {
    for (let first = this.#owed[0]; first?.cutAtMs !== undefined && this.#owed.length > 1; first = this.#owed[0]) {
      if (this.#nowMs() - first.cutAtMs <= CUT_REPLY_MS) return;
      this.#drop(first);
    }
  }

  #dropCut(): void {
    for (const cut of this.#owed.filter(({ cutAtMs }) => cutAtMs !== undefined)) this.#drop(cut);
  }

  #drop(turn: SocketTurn): void {
    this.#settle(turn);
    this.#over(turn, { kind: 'completed', promptTexts: [] });
  }

  #settle(turn: SocketTurn): void {
    this.#owed = this.#owed.filter((each) => each !== turn);
  }

  #over(turn: SocketTurn, end: LineEnd): void {
    if (turn.isOver) return;
    turn.isOver = true;
    turn.listener.ended(end);
  }

  #endSoon(turn: SocketTurn, end: LineEnd): void {
    queueMicrotask(() => {
      this.#over(turn, end);
    });
  }
}

function hasSound({ prompts }: Answer): boolean {
  return prompts.some(({ audio }) => audio.length > 0);
}

/** Whether an answer says something, of which nothing may be cut. */
function isUncuttable({ prompts }: Answer): boolean {
  const heard = prompts.filter(({ audio, text, uri }) => audio.length > 0 || text !== '' || uri !== '');
  return heard.length > 0 && heard.every(({ bargeIn }) => !bargeIn);
}

/** A FINAL that says nothing. */
function isEmpty(answer: Answer): boolean {
  const isSilent = answer.prompts.every(({ audio, text, uri }) => audio.length === 0 && text === '' && uri === '');
  return isClosing(answer) && isSilent && answer.event === undefined;
}
