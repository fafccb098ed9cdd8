// The turns of a socket that wait for a reply, and which of them an answer is the reply to. Nothing on a socket names the input
// that is answered (W-11, W-24): the order does, and what can be a reply at all.
import { isTerminalEvent, type Answer } from '../../caller/answer.ts';
import { isEmpty, isUncuttable, type SocketTurn } from './socket-turn.ts';

/** How long the FINAL of a reply that was cut is waited for, ms: what comes later belongs to what was said since. */
export const CUT_REPLY_MS = 1000;
/** How long sound of a reply that was cut may be on its way, ms, where something newer waits for its own. */
const CROSSING_MS = 100;

/** The replies that are awaited on one socket. */
export class DueReplies {
  readonly #nowMs: () => number;
  readonly #given: (turn: SocketTurn) => void;
  /** The one that waits longest first; a turn that was given up may be among them. */
  #turns: SocketTurn[] = [];

  /** @param given - called with each turn that is not waited for any more although its reply has not closed. */
  constructor(nowMs: () => number, given: (turn: SocketTurn) => void) {
    this.#nowMs = nowMs;
    this.#given = given;
  }

  has(turn: SocketTurn): boolean {
    return this.#turns.includes(turn);
  }

  /** A turn waits for its reply. One that must have one overtakes those that may stay without and have nothing yet (G-72). */
  add(turn: SocketTurn): void {
    const idle = turn.mayStaySilent ? -1 : this.#turns.findIndex(isIdle);
    if (idle === -1) this.#turns.push(turn);
    else this.#turns.splice(idle, 0, turn);
  }

  /** The reply has closed. */
  settle(turn: SocketTurn): void {
    this.#turns = this.#turns.filter((each) => each !== turn);
  }

  /** Nothing is waited for any more, and `given` is not called. */
  clear(): void {
    this.#turns = [];
  }

  /** The caller comes in between: no reply that is under way is wanted any more. */
  cut(): void {
    const nowMs = this.#nowMs();
    for (const turn of this.#turns) turn.cutAtMs ??= nowMs;
  }

  /** Gives up the replies that were cut. */
  dropCut(): void {
    this.#drop(isCut);
  }

  /** Gives up what may stay without a reply and has none yet. */
  dropIdle(): void {
    this.#drop(isIdle);
  }

  /**
   * The turn that an answer is the reply to; undefined when it is none of these.
   *
   * @param speaker - the turn on which the server has reported speech and not its end, if there is one. It may be the result, too.
   */
  whose(answer: Answer, speaker: SocketTurn | undefined): SocketTurn | undefined {
    const wanted = this.#turns.find((turn) => !isCut(turn));
    if (isTerminalEvent(answer.event) && (wanted ?? speaker) !== undefined) return wanted ?? speaker;
    if (wanted !== undefined) this.#drop((turn) => this.#isLate(turn));
    const cut = this.#turns.find(isCut);
    if (cut === undefined) return wanted;
    if (wanted !== undefined) return this.#isOld(answer, cut, wanted) ? cut : wanted;
    // What was cut could be: this is a farewell (W-29), or the reply to what is said now. Of the old one nothing more is heard.
    if (speaker !== undefined && (isUncuttable(answer) || (this.#isLate(cut) && !isEmpty(answer)))) {
      this.dropCut();
      return speaker;
    }
    return cut;
  }

  /** Whether an answer is still of the reply that was cut, and not of the one that is wanted. */
  #isOld(answer: Answer, { cutAtMs = 0 }: SocketTurn, wanted: SocketTurn): boolean {
    return !wanted.isReplied && (isEmpty(answer) || this.#nowMs() - cutAtMs <= CROSSING_MS);
  }

  #isLate({ cutAtMs }: SocketTurn): boolean {
    return cutAtMs !== undefined && this.#nowMs() - cutAtMs > CUT_REPLY_MS;
  }

  #drop(isDropped: (turn: SocketTurn) => boolean): void {
    for (const turn of this.#turns.filter(isDropped)) {
      this.settle(turn);
      this.#given(turn);
    }
  }
}

function isCut({ cutAtMs }: SocketTurn): boolean {
  return cutAtMs !== undefined;
}

function isIdle({ mayStaySilent, isReplied }: SocketTurn): boolean {
  return mayStaySilent && !isReplied;
}
