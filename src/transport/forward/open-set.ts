// A set with a promise for the moment when it is empty.

/** Users add and delete members. */
export class OpenSet<T> {
  readonly #all = new Set<T>();
  readonly #waiting: (() => void)[] = [];

  get size(): number {
    return this.#all.size;
  }

  /** A copy: later removals do not change it. */
  get all(): readonly T[] {
    return [...this.#all];
  }

  add(one: T): void {
    this.#all.add(one);
  }

  delete(one: T): void {
    this.#all.delete(one);
    if (this.#all.size === 0) for (const listener of this.#waiting.splice(0)) listener();
  }

  /** Resolves when the set is empty. */
  gone(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#all.size === 0) resolve();
      else this.#waiting.push(resolve);
    });
  }
}
