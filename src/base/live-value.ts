// A value that is replaced as a whole while the process runs, with listeners. Knows nothing of the value.

/** The read-only view of the value. */
export interface Live<T> {
  readonly current: T;
  /** Calls `listener` after each replacement. @returns a function that ends this. */
  onChange(listener: () => void): () => void;
}

/** The value with the right to replace it. */
export class LiveValue<T> implements Live<T> {
  readonly #listeners = new Set<() => void>();
  #current: T;

  constructor(first: T) {
    this.#current = first;
  }

  get current(): T {
    return this.#current;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Replaces it and notifies every listener. */
  set(value: T): void {
    this.#current = value;
    for (const listener of this.#listeners) listener();
  }
}
