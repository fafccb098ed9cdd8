// A resource that only one process can hold: acquired for the first user and released after the last one.

/** Holds the resource only during uses, or, after `hold`, until `close`. */
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

  /** Runs `work` with the resource. @throws the error of acquiring the resource, and the error of `work`. */
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

  /** Acquires the resource until {@link HeldWhileNeeded.close}. @throws the error of acquiring it. */
  async hold(): Promise<void> {
    await this.use(() => {
      this.#users += 1;
      return Promise.resolve();
    });
  }

  /** Releases the resource. */
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
