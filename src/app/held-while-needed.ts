// Something that one process at a time may have, taken for the first who needs it and given back after the last.

/** Nothing is held between two uses, unless it is held for good. `close` must be called then. */
export class HeldWhileNeeded<T> {
  readonly #take: () => Promise<T>;
  readonly #giveBack: (held: T) => Promise<void>;
  #held: Promise<T> | undefined;
  #users = 0;
  #given: Promise<unknown> = Promise.resolve();

  constructor(take: () => Promise<T>, giveBack: (held: T) => Promise<void>) {
    this.#take = take;
    this.#giveBack = giveBack;
  }

  /** @throws what keeps it from being taken, and what `work` throws. */
  async use<R>(work: (held: T) => Promise<R>): Promise<R> {
    this.#users += 1;
    try {
      this.#held ??= this.#given.then(() => this.#take());
      return await work(await this.#held);
    } finally {
      this.#users -= 1;
      if (this.#users === 0) await this.#release();
    }
  }

  /** Takes it until {@link HeldWhileNeeded.close}. @throws what keeps it from being taken. */
  async hold(): Promise<void> {
    await this.use(() => {
      this.#users += 1;
      return Promise.resolve();
    });
  }

  /** Gives it back. */
  async close(): Promise<void> {
    this.#users = 0;
    await this.#release();
  }

  async #release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    this.#given = held === undefined ? Promise.resolve() : held.then(this.#giveBack).catch(() => undefined);
    await this.#given;
  }
}
