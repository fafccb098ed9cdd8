// Names the turns of a call. A turn id is unique within the call, across homes and restarts of the conversation, so
// bots may use it as a key.

export interface TurnName {
  readonly id: string;
  /** A newer turn of the session has a larger number. */
  readonly number: number;
}

/** Owned by a session; a restarted conversation continues the names of the previous one (G-28). */
export class TurnNames {
  readonly #prefix: string;
  #number: number;

  /**
   * @param answered - number of turns answered before.
   * @param generation - number of moves of the call; undefined: a new call.
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
