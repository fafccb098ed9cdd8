// To which turn an answer on a socket belongs. The caller works in turns, each with its own answers and end. On a socket, all answers of a
// call come one after the other (W-23, W-24): they belong to the input that has waited longest for a reply, or to the present speech. Knows
// no socket; reports an answer that belongs to no turn.
import { isClosing, isTerminalEvent, type Answer } from '../../caller/answer.ts';
import type { LineEnd, PlatformInput, Revealed, TurnListener } from '../line.ts';
import { SILENT_FRAME } from '../../caller/microphone.ts';
import type { Breach } from '../wire-rules.ts';
import { CUT_REPLY_MS, DueReplies } from './due-replies.ts';
import { hasSound, isEmpty, SocketTurn } from './socket-turn.ts';

const COMPLETED: LineEnd = { kind: 'completed', promptTexts: [] };

export class SocketTurns {
  readonly #nowMs: () => number;
  readonly #found: (breach: Breach) => void;
  readonly #turns: SocketTurn[] = [];
  readonly #due: DueReplies;
  #lastHeard: SocketTurn | undefined;
  /** Set when speech was reported after the listening turn had ended, until the reply to that speech comes. */
  #hasCrossed = false;
  #hasEnded = false;
  #end: LineEnd | undefined;

  constructor(nowMs: () => number, found: (breach: Breach) => void) {
    this.#nowMs = nowMs;
    this.#found = found;
    this.#due = new DueReplies(nowMs, (turn) => this.#over(turn, COMPLETED));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Opens a turn. On a lost socket the turn ends at once, but after `open` has returned. */
  open(listener: TurnListener): SocketTurn {
    const turn = new SocketTurn(listener);
    this.#turns.push(turn);
    if (this.#end !== undefined) this.#endSoon(turn, this.#end);
    return turn;
  }

  sent(turn: SocketTurn, input: PlatformInput): void {
    switch (input.kind) {
      case 'audio':
        // Probes and frames of silence are no speech.
        if (input.audio !== SILENT_FRAME && input.audio.length === SILENT_FRAME.length) turn.hasSpoken = true;
        return;
      case 'audio_format':
        return;
      case 'dtmf_start':
        turn.kind = 'key';
        this.#due.cut();
        return;
      case 'session_end':
        turn.kind = 'hang_up';
        return;
      case 'dtmf':
        // Digits interrupt the reply if no START_OF_DTMF has done so before (G-64).
        this.#due.cut();
        break;
      case 'custom_event':
        turn.mayStaySilent = true;
        break;
      case 'session_start':
      case 'no_input':
    }
    turn.kind = 'input';
    this.#due.add(turn);
  }

  /** Ends the sending of a turn. A turn that waits for no reply is then complete: a socket has no half-close (W-23). */
  halfClose(turn: SocketTurn): void {
    if (turn.isHalfClosed) return;
    turn.isHalfClosed = true;
    turn.deafAtMs ??= this.#nowMs();
    const isComplete = turn.kind === 'key' || (turn.kind === 'audio' && !this.#due.has(turn));
    if (isComplete) this.#endSoon(turn, COMPLETED);
  }

  /** Cancels a turn. If its reply still comes, the reply belongs to no turn. */
  cancel(turn: SocketTurn): void {
    turn.isHalfClosed = true;
    turn.deafAtMs ??= this.#nowMs();
    turn.cutAtMs ??= this.#nowMs();
    this.#endSoon(turn, { kind: 'broken', failure: { code: 'closed_early', message: 'the turn was given up' } });
  }

  /** Passes an answer to its turn. @param revealed - by the answer, if it is a FINAL. */
  take(answer: Answer, revealed: Revealed): void {
    const isTerminal = isTerminalEvent(answer.event);
    if (isTerminal) this.#hasEnded = true;
    const isClosed = isClosing(answer);
    const kind = answer.event?.kind;
    if (!isClosed && kind === 'start_of_input') {
      this.#inputStarted(answer);
      return;
    }
    if (kind === 'end_of_input') {
      const listening = this.#listeningTurn;
      if (listening !== undefined) this.#hearOut(listening);
      if (!isClosed) {
        if (listening === undefined) this.#reportNoInput(answer);
        else listening.listener.answered(answer);
        return;
      }
    }
    const turn = this.#whose(answer);
    if (turn === undefined) return;
    // A server may reply without reporting the end of the speech.
    if (turn.kind === 'audio' && !turn.isHeardOut) this.#hearOut(turn);
    turn.isReplied = true;
    if (isClosed) this.#due.settle(turn);
    // A farewell may come without any input; only its terminal event shows that an answer is one.
    if (isClosed && turn.isUnasked && !isTerminal) this.#reportUnasked();
    if (!turn.isOver) turn.listener.answered(answer);
    if (!isClosed) return;
    if (turn.cutAtMs === undefined) this.#due.dropCut();
    if (isTerminal) this.#due.dropIdle();
    if (turn.kind !== 'hang_up') this.#over(turn, { kind: 'completed', ...revealed });
  }

  /** Ends every open turn, and every later turn, because the socket is lost. */
  close(end: LineEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#due.clear();
    for (const turn of [...this.#turns]) this.#over(turn, end);
  }

  /** The turn that carries what the caller says now. */
  get #listeningTurn(): SocketTurn | undefined {
    return this.#turns.findLast(({ isListening }) => isListening);
  }

  #inputStarted(answer: Answer): void {
    const turn = this.#listeningTurn;
    if (turn === undefined) {
      this.#reportNoInput(answer);
      return;
    }
    turn.hasHeardSpeech = true;
    this.#lastHeard = turn;
    this.#due.cut();
    turn.listener.answered(answer);
  }

  /** Notes that the speech is complete. Stops waiting for interrupted replies: the next answer belongs to this speech. */
  #hearOut(turn: SocketTurn): void {
    this.#due.dropCut();
    turn.isHeardOut = true;
    turn.deafAtMs ??= this.#nowMs();
    this.#due.add(turn);
  }

  /** Handles an event about speech while no turn listens: it may have been sent before the listening turn ended. */
  #reportNoInput(answer: Answer): void {
    const open = this.#turns.findLast(({ isOver }) => !isOver);
    const wasListening = this.#turns.findLast(({ kind }) => kind === 'audio' || kind === 'key');
    const isEnd = answer.event?.kind === 'end_of_input';
    const isLate = open === undefined && this.#nowMs() - (wasListening?.deafAtMs ?? 0) > CUT_REPLY_MS;
    if (wasListening !== undefined && (isEnd || (wasListening !== this.#lastHeard && !isLate))) {
      this.#lastHeard = wasListening;
      this.#hasCrossed ||= !isEnd;
    } else if (open !== undefined) {
      open.listener.answered(answer);
    } else if (!isEnd) {
      // Every turn is over, so no speech may be reported. Late events of the last listening turn are handled above.
      const message = 'START_OF_INPUT came while a prompt without barge-in plays';
      this.#found({ code: 'input_start_not_allowed', rule: 'G-37', message });
    }
  }

  #whose(answer: Answer): SocketTurn | undefined {
    const listening = this.#listeningTurn;
    const speaker = listening?.hasHeardSpeech === true ? listening : undefined;
    const due = this.#due.whose(answer, speaker);
    if (due !== undefined) {
      // A reply that begins only now is allowed: it may answer input that the server accepted while the caller spoke.
      if (due.cutAtMs !== undefined && speaker !== undefined && due.isReplied && hasSound(answer)) {
        const message = 'a reply went on although its caller was reported to speak; what is left of it may not be sent';
        this.#found({ code: 'old_reply_goes_on', rule: 'W-27', message });
      }
      return due;
    }
    const leaving = this.#turns.findLast(({ kind, isOver }) => kind === 'hang_up' && !isOver);
    if (leaving !== undefined) return leaving;
    if (listening === undefined || (speaker === undefined && isEmpty(answer))) {
      this.#reportNobody(answer);
      return undefined;
    }
    listening.isUnasked = speaker === undefined && !listening.hasSpoken && !this.#hasCrossed;
    this.#hasCrossed = false;
    return listening;
  }

  #reportNobody(answer: Answer): void {
    if (this.#turns.at(-1)?.kind === 'key') {
      this.#found({ code: 'answer_to_key_press', rule: 'W-26', message: 'START_OF_DTMF was answered; it needs no reply' });
    } else if (isEmpty(answer)) {
      this.#found({ code: 'second_final', rule: 'W-24', message: 'more than one closing FINAL came for one reply' });
    } else {
      this.#reportUnasked();
    }
  }

  #reportUnasked(): void {
    this.#found({ code: 'answer_unasked', rule: 'W-24', message: 'an answer came behind the FINAL of its reply' });
  }

  #over(turn: SocketTurn, end: LineEnd): void {
    if (turn.isOver) return;
    turn.isOver = true;
    turn.listener.ended(end);
  }

  #endSoon(turn: SocketTurn, end: LineEnd): void {
    queueMicrotask(() => this.#over(turn, end));
  }
}
