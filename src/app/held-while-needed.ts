// A resource that one process at a time may hold: acquired for the first user and released after the last.

/** Holds nothing between two uses, unless it is held for good. Then call `close`. */
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

  /** @throws the error of acquiring it, and the error of `work`. */
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

  /** Acquires it until {@link HeldWhileNeeded.close}. @throws the error of acquiring it. */
  async hold(): Promise<void> {
    await this.use(() => {
      this.#users += 1;
      return Promise.resolve();
    });
  }

  /** Releases it. */
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
