// A value that is replaced as a whole while the process runs, and those who must hear of it. Knows nothing of the value.

/** What those see of it who only use it. */
export interface Live<T> {
  readonly current: T;
  /** Calls `tell` after each replacement. @returns what ends that. */
  onChange(tell: () => void): () => void;
}

/** The side that replaces it. */
export class LiveValue<T> implements Live<T> {
  readonly #listeners = new Set<() => void>();
  #current: T;

  constructor(first: T) {
    this.#current = first;
  }

  get current(): T {
    return this.#current;
  }

  onChange(tell: () => void): () => void {
    this.#listeners.add(tell);
    return () => {
      this.#listeners.delete(tell);
    };
  }

  /** Replaces it and tells everybody. */
  set(value: T): void {
    this.#current = value;
    for (const tell of this.#listeners) tell();
  }
}
