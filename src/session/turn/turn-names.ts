// What the turns of a call are called. Bots may take the id for a key that tells one turn from all others of the call: no two homes
// of it use the same, and neither does a conversation that begins anew.

/** What names a turn. */
export interface TurnName {
  readonly id: string;
  /** A newer turn of the session has a larger number. */
  readonly number: number;
}

/** Owned by a session; a conversation that begins anew goes on with those of the one before (G-28). */
export class TurnNames {
  readonly #prefix: string;
  #number: number;

  /**
   * @param answered - turns that were answered before.
   * @param generation - how often the call has changed its home; undefined: it has just begun.
   */
  constructor(conversationId: string, answered: number, generation: number | undefined) {
    this.#prefix = generation === undefined ? `${conversationId}#` : `${conversationId}#${String(generation)}.`;
    this.#number = answered;
  }

  next(): TurnName {
    this.#number += 1;
    return { id: this.#prefix + String(this.#number), number: this.#number };
  }
}
