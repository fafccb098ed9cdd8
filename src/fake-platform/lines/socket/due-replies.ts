// The turns of a socket that wait for a reply, and which of them an answer belongs to. Nothing on a socket names the input
// that is answered (W-11, W-24): the order decides, and whether a turn can have a reply at all.
import { isTerminalEvent, type Answer } from '../../caller/answer.ts';
import { isEmpty, isUncuttable, type SocketTurn } from './socket-turn.ts';

/** How long to wait for the FINAL of an interrupted reply, ms: a later one belongs to newer input. */
export const CUT_REPLY_MS = 1000;
/** How long sound of an interrupted reply may be under way, ms, when something newer waits for its own. */
const CROSSING_MS = 100;

export class DueReplies {
  readonly #nowMs: () => number;
  readonly #given: (turn: SocketTurn) => void;
  /** The turn that has waited longest comes first; cancelled turns may be among them. */
  #turns: SocketTurn[] = [];

  /** @param given - called with each turn that is no longer waited for although its reply has not closed. */
  constructor(nowMs: () => number, given: (turn: SocketTurn) => void) {
    this.#nowMs = nowMs;
    this.#given = given;
  }

  has(turn: SocketTurn): boolean {
    return this.#turns.includes(turn);
  }

  /** A turn waits for its reply. One that needs a reply overtakes those that may have none and have got nothing yet (G-72). */
  add(turn: SocketTurn): void {
    const idle = turn.mayStaySilent ? -1 : this.#turns.findIndex(isIdle);
    if (idle === -1) this.#turns.push(turn);
    else this.#turns.splice(idle, 0, turn);
  }

  /** The reply has closed. */
  settle(turn: SocketTurn): void {
    this.#turns = this.#turns.filter((each) => each !== turn);
  }

  /** Stops all waits without calling `given`. */
  clear(): void {
    this.#turns = [];
  }

  /** The caller interrupts: no reply under way is wanted any more. */
  cut(): void {
    const nowMs = this.#nowMs();
    for (const turn of this.#turns) turn.cutAtMs ??= nowMs;
  }

  /** Stops waiting for interrupted replies. */
  dropCut(): void {
    this.#drop(isCut);
  }

  /** Stops waiting for turns that may have no reply and have got none yet. */
  dropIdle(): void {
    this.#drop(isIdle);
  }

  /**
   * The turn that an answer belongs to; undefined when it belongs to none of the waiting turns.
   *
   * @param speaker - the turn on which the server has reported speech but not its end, if any. It may be the result, too.
   */
  whose(answer: Answer, speaker: SocketTurn | undefined): SocketTurn | undefined {
    const wanted = this.#turns.find((turn) => !isCut(turn));
    if (isTerminalEvent(answer.event) && (wanted ?? speaker) !== undefined) return wanted ?? speaker;
    if (wanted !== undefined) this.#drop((turn) => this.#isLate(turn));
    const cut = this.#turns.find(isCut);
    if (cut === undefined) return wanted;
    if (wanted !== undefined) return this.#isOld(answer, cut, wanted) ? cut : wanted;
    // The answer could belong to the interrupted turn, but is a farewell (W-29) or the reply to what is said now.
    if (speaker !== undefined && (isUncuttable(answer) || (this.#isLate(cut) && !isEmpty(answer)))) {
      this.dropCut();
      return speaker;
    }
    return cut;
  }

  /** Whether an answer still belongs to the interrupted reply, and not to the wanted one. */
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
