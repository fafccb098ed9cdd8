// Barge-ins that happened, and those that the bot was told of: the same ones in the same order. Only a bot that has not
// answered the start of the call has no state yet and may not be told.
import type { HeardPart } from './rpc.ts';

/** The caller acted over a reply. */
export interface BargeIn {
  readonly by: string;
  readonly heard: HeardPart;
  /** The last reply may have been one that never came. */
  readonly wasUnspoken: boolean;
}

/** Of one session. */
export class BargeIns {
  readonly #happened: (BargeIn & { readonly mayBeLost: boolean })[] = [];
  /** How many of them may be told by now: more than one number while it is not known which were lost. */
  #told = new Set([0]);

  happened(bargeIn: BargeIn, mayBeLost: boolean): void {
    this.#happened.push({ ...bargeIn, mayBeLost });
  }

  /** @returns false when no barge-in like this is due. */
  told(isLike: (bargeIn: BargeIn) => boolean): boolean {
    const after = new Set<number>();
    for (const from of this.#told) {
      for (const [place, bargeIn] of this.#happened.entries()) {
        if (place < from) continue;
        if (isLike(bargeIn)) after.add(place + 1);
        if (!bargeIn.mayBeLost) break;
      }
    }
    this.#told = after;
    return after.size > 0;
  }
}
