// What the turns of a call are called. Bots may take the id for a key that tells one turn from all others of the call, so no two
// processes that have turns of it may use the same.
import type { TurnName } from './turn.ts';

/** Owned by a session. */
export class TurnNames {
  /** Of the stream that opened last, among all of the call; 0 where they are not counted. */
  place = 0;
  readonly #conversationId: string;
  /** Turns of the call so far, as far as they are known here. */
  #count: number;
  /** The place that the last turn was named by. */
  #used = 0;

  /** @param count - turns that were answered before. */
  constructor(conversationId: string, count: number) {
    this.#conversationId = conversationId;
    this.#count = count;
  }

  /** So many turns were answered, here or in other processes. */
  goOnFrom(count: number): void {
    this.#count = Math.max(this.#count, count);
  }

  /** The number in the session tells turns apart that came on streams without a place of their own. */
  next(): TurnName {
    this.#count += 1;
    const { place } = this;
    const number = this.#count;
    const isTaken = place === this.#used;
    this.#used = place;
    const own = place === 0 ? String(number) : isTaken ? `${String(place)}.${String(number)}` : String(place);
    return { id: `${this.#conversationId}#${own}`, number, place };
  }
}
