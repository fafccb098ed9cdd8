// The shared texts in the hands of their owner: changes that meet go out in one step, one step after the other, and a server that
// has lost something gets everything again before a change counts as made. Seals nothing and reads no answer.
import { demandInBounds, type StoreChange } from '../durable-store.ts';
import { MAX_AT_ONCE } from './told-changes.ts';

/** The copy that is written from. */
export interface TextsCopy {
  readonly hasLost: boolean;
  readonly all: readonly StoreChange[];
  get(key: string): Promise<string | undefined>;
  keys(prefix: string): Promise<readonly string[]>;
}

/** One step. @param isLast - whether the server has again, with these, all that it had lost. */
type Write = (changes: readonly StoreChange[], isLast: boolean) => Promise<void>;

/** The texts of one owner. */
export class OwnedTexts {
  readonly #texts: TextsCopy;
  readonly #write: Write;
  #next: { readonly changes: StoreChange[]; readonly written: Promise<void> } | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(texts: TextsCopy, write: Write) {
    this.#texts = texts;
    this.#write = write;
  }

  get(key: string): Promise<string | undefined> {
    return this.#texts.get(key);
  }

  keys(prefix: string): Promise<readonly string[]> {
    return this.#texts.keys(prefix);
  }

  /** {@link OwnedTexts.apply} for one text. */
  set(key: string, value: string): Promise<void> {
    return this.apply([{ key, value }]);
  }

  /** {@link OwnedTexts.apply} that takes one text away. */
  delete(key: string): Promise<void> {
    return this.apply([{ key, value: undefined }]);
  }

  /**
   * Makes all changes or none. Resolves when the server has them; then every other process can read them.
   *
   * @throws AppError `store_failed`, also when somebody else owns the texts by now; nothing is changed here then, unless the
   *   server had lost something and could not be given all of it.
   * @throws RangeError for a name or text beyond its bounds, or more changes than fit into one step; nothing is changed then.
   */
  async apply(changes: readonly StoreChange[]): Promise<void> {
    demandInBounds(changes);
    if (changes.length > MAX_AT_ONCE) throw new RangeError(`at most ${String(MAX_AT_ONCE)} texts are changed at once`);
    if (this.#next !== undefined && this.#next.changes.length + changes.length <= MAX_AT_ONCE) {
      this.#next.changes.push(...changes);
      return this.#next.written;
    }
    const all = [...changes];
    const written = this.#after(() => this.#begin(all));
    this.#next = { changes: all, written };
    return written;
  }

  /**
   * Writes down again what the server has lost; until all of it is there, others believe what they knew. Does nothing when it has
   * lost nothing.
   *
   * @throws AppError `store_failed`.
   */
  restore(): Promise<void> {
    return this.#after(() => this.#restore());
  }

  /** Writes everything anew, sealed with the key of the moment. @throws AppError `store_failed`. */
  async rewrite(): Promise<void> {
    const { all } = this.#texts;
    for (let at = 0; at < all.length; at += MAX_AT_ONCE) await this.apply(all.slice(at, at + MAX_AT_ONCE));
  }

  /** One step after the other. */
  #after(step: () => Promise<void>): Promise<void> {
    const written = this.#writing.then(step);
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #begin(changes: readonly StoreChange[]): Promise<void> {
    if (this.#next?.changes === changes) this.#next = undefined;
    await this.#write(changes, false);
    // Until then no other process takes anything over, and this may be a nonce that the platform is about to be told (L-10).
    await this.#restore();
  }

  async #restore(): Promise<void> {
    if (!this.#texts.hasLost) return;
    const { all } = this.#texts;
    for (let at = 0; at < all.length; at += MAX_AT_ONCE) await this.#write(all.slice(at, at + MAX_AT_ONCE), false);
    await this.#write([], true);
  }
}
