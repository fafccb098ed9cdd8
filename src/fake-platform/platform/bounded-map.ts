// A map that drops its oldest entries, so that no record of the fake platform grows without limit.

/** At most `limit` entries. A key that is set again keeps its position. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: K, value: V): this {
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#limit && oldest !== undefined) this.delete(oldest);
    return this;
  }

  /** Deletes every entry that `matches`. @returns their number. */
  deleteWhere(matches: (value: V) => boolean): number {
    const found = [...this].filter(([, value]) => matches(value));
    for (const [key] of found) this.delete(key);
    return found.length;
  }
}
