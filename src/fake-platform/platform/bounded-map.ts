// A map that forgets its oldest entries, so that no book of the fake platform grows for ever.

/** At most `limit` entries; a key that is set again keeps its place. */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  /** Deletes what `matches` and says how many that were. */
  deleteWhere(matches: (value: V) => boolean): number {
    const found = [...this.#entries].filter(([, value]) => matches(value));
    for (const [key] of found) this.#entries.delete(key);
    return found.length;
  }

  /** Oldest first. */
  values(): readonly V[] {
    return [...this.#entries.values()];
  }
}
