// The turns of a socket that wait for a reply, and to which of them an answer belongs. No message names the input that it answers (W-11,
// W-24), so the order of the turns decides, and whether a turn can have a reply at all.
import { isTerminalEvent, type Answer } from '../../caller/answer.ts';
import { isEmpty, isUncuttable, type SocketTurn } from './socket-turn.ts';

/** Longest wait for the FINAL of an interrupted reply, ms: a later FINAL belongs to newer input. */
export const CUT_REPLY_MS = 1000;
/** How long audio of an interrupted reply may still arrive, ms, while a newer turn waits for its reply. */
const CROSSING_MS = 100;

export class DueReplies {
  readonly #nowMs: () => number;
  readonly #given: (turn: SocketTurn) => void;
  /** The turn that has waited longest comes first. May contain cancelled turns. */
  #turns: SocketTurn[] = [];

  /** @param given - called with each turn whose wait ends before its reply has closed. */
  constructor(nowMs: () => number, given: (turn: SocketTurn) => void) {
    this.#nowMs = nowMs;
    this.#given = given;
  }

  has(turn: SocketTurn): boolean {
    return this.#turns.includes(turn);
  }

  /** Adds a waiting turn. A turn that needs a reply goes before turns that may stay without one and have got none so far (G-72). */
  add(turn: SocketTurn): void {
    const idle = turn.mayStaySilent ? -1 : this.#turns.findIndex(isIdle);
    if (idle === -1) this.#turns.push(turn);
    else this.#turns.splice(idle, 0, turn);
  }

  /** Removes a turn whose reply has closed. */
  settle(turn: SocketTurn): void {
    this.#turns = this.#turns.filter((each) => each !== turn);
  }

  /** Stops all waits without calling `given`. */
  clear(): void {
    this.#turns = [];
  }

  /** Marks all waiting turns as interrupted: their replies are no longer wanted. */
  cut(): void {
    const nowMs = this.#nowMs();
    for (const turn of this.#turns) turn.cutAtMs ??= nowMs;
  }

  /** Stops waiting for interrupted replies. */
  dropCut(): void {
    this.#drop(isCut);
  }

  /** Stops waiting for turns that may have no reply and have not got any yet. */
  dropIdle(): void {
    this.#drop(isIdle);
  }

  /**
   * The turn that an answer belongs to; undefined: none of the waiting turns.
   * @param speaker - the turn on which the server has reported the start of speech but not the end, if any; may be the result.
   */
  whose(answer: Answer, speaker: SocketTurn | undefined): SocketTurn | undefined {
    const wanted = this.#turns.find((turn) => !isCut(turn));
    if (isTerminalEvent(answer.event) && (wanted ?? speaker) !== undefined) return wanted ?? speaker;
    if (wanted !== undefined) this.#drop((turn) => this.#isLate(turn));
    const cut = this.#turns.find(isCut);
    if (cut === undefined) return wanted;
    if (wanted !== undefined) return this.#isOld(answer, cut, wanted) ? cut : wanted;
    // The answer could belong to `cut`, but is a farewell (W-29) or the reply to the present speech.
    if (speaker !== undefined && (isUncuttable(answer) || (this.#isLate(cut) && !isEmpty(answer)))) {
      this.dropCut();
      return speaker;
    }
    return cut;
  }

  /** Whether an answer still belongs to the interrupted reply and not to `wanted`. */
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
