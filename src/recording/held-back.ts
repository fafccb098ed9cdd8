// Input that the caller gives while the bot may be asking for something sensitive: it stays in memory until the bot has decided.
import type { EventBlock } from './event-block.ts';
import { withheldEvent } from './redaction.ts';

/** Most full blocks that are held back. */
const MAX_BLOCKS = 16;

/** A turn whose bot has not decided yet. */
interface Waiting {
  /** The input has come; anything later on this turn does not belong to it. */
  isComplete: boolean;
  /** Where the input ends in the blocks that are held back. */
  end?: { readonly block: EventBlock; readonly at: number } | undefined;
  /** The bot was asked and has not answered: only its answer is the decision, not the end of the turn. */
  isAsked: boolean;
}

/** One per recording. Turns are named by their numbers; `current` is the block that is being written. */
export class HeldBack {
  readonly #waiting = new Map<number, Waiting>();
  /** Full blocks that are held back. */
  #blocks: EventBlock[] = [];
  /** Index of the first byte that is held back, in the first full block or else in the current one. */
  #from = 0;

  /** Whether nothing more can be held back: further input must be withheld. */
  get isFull(): boolean {
    return this.#blocks.length >= MAX_BLOCKS;
  }

  /** Whether no turn waits for its decision. */
  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  /** Whether the bot is still at work on an input. */
  get isAsked(): boolean {
    return [...this.#waiting.values()].some(({ isAsked }) => isAsked);
  }

  /** Holds back everything from now on, until this turn is decided. */
  wait(turn: number, current: EventBlock): void {
    if (this.isIdle) this.#from = current.used;
    if (!this.#waiting.has(turn)) this.#waiting.set(turn, { isComplete: false, isAsked: false });
  }

  /** The input of a waiting turn has come. */
  complete(turn: number, current: EventBlock): void {
    const waiting = this.#waiting.get(turn);
    if (waiting === undefined || waiting.isComplete) return;
    waiting.isComplete = true;
    waiting.end = { block: current, at: current.used };
  }

  /** The bot is asked about the input of this turn: from now on the end of the turn decides nothing. */
  asked(turn: number): void {
    const waiting = this.#waiting.get(turn);
    if (waiting !== undefined) waiting.isAsked = true;
  }

  /** The turn has ended. @returns whether its end is the decision. */
  isDecidedByEnd(turn: number): boolean {
    return this.#waiting.get(turn)?.isAsked === false;
  }

  /** Takes a full block. @returns false when nothing is held back, so that the block can be written. */
  take(full: EventBlock): boolean {
    if (this.isIdle) return false;
    this.#blocks.push(full);
    return true;
  }

  /**
   * A turn is decided. @param isHarmless - whether the turn's own input is known not to be sensitive.
   *
   * @returns the full blocks that can be written.
   */
  decided(turn: number, isSensitive: boolean, isHarmless: boolean, current: EventBlock): readonly EventBlock[] {
    const waiting = this.#waiting.get(turn);
    if (waiting === undefined) return [];
    this.#waiting.delete(turn);
    if (!isSensitive && !this.isIdle) return [];
    return this.#released(isSensitive, current, turn, isHarmless ? waiting.end : undefined);
  }

  /** Withholds the input that is still undecided. @returns the full blocks that can be written. */
  end(current: EventBlock): readonly EventBlock[] {
    return this.isIdle ? [] : this.#released(true, current);
  }

  /** @param end - end of the input of `turn`; the input up to there may stay. */
  #released(isSensitive: boolean, current: EventBlock, turn = 0, end?: Waiting['end']): readonly EventBlock[] {
    const [full, from] = [this.#blocks, this.#from];
    if (isSensitive) {
      const all = [...full, current];
      const endsIn = end === undefined ? -1 : all.indexOf(end.block);
      for (const [index, block] of all.entries()) {
        const until = index < endsIn ? Infinity : index === endsIn ? (end?.at ?? 0) : 0;
        block.withhold(index === 0 ? from : 0, withheldEvent, { turn, until });
      }
      // The input of the other turns is already withheld, and its end has moved.
      for (const waiting of this.#waiting.values()) waiting.end = undefined;
    }
    this.#blocks = [];
    this.#from = current.used;
    return full;
  }
}
