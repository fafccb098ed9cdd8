// One piece of work after the other: what brings a session's inputs and notes to its bot in order.

/** Never rejects; what a piece of work throws goes to `onFailed`, and the next one begins. */
export class WorkQueue {
  readonly #onFailed: (error: unknown) => void;
  #tail: Promise<void> = Promise.resolve();
  #size = 0;

  constructor(onFailed: (error: unknown) => void) {
    this.#onFailed = onFailed;
  }

  /** Pieces of work that are not done, the present one included. */
  get size(): number {
    return this.#size;
  }

  add(work: () => Promise<void>): void {
    this.#size += 1;
    this.#tail = this.#tail
      .then(work)
      .catch(this.#onFailed)
      // Whoever is told of a failure must not be the next one.
      .catch(() => undefined)
      .finally(() => {
        this.#size -= 1;
      });
  }

  /** Resolves when everything that was added so far is done. */
  done(): Promise<void> {
    return this.#tail;
  }
}
