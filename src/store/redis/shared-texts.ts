// The secrets of the administration where several processes share them: sealed texts on one server, and here an opened copy of
// them that follows what others change. Writing needs the token of the owner (owner-lease.ts); reading needs nobody.
import { AppError } from '../../base/errors.ts';
import type { StoreChange } from '../durable-store.ts';
import type { Seal } from '../seal.ts';
import { OwnedTexts } from './owned-texts.ts';
import type { OwnerClaim } from './owner-lease.ts';
import { askChanges, askFollowing, writeChanges, type TextsPlace, type ToldChange, type ToldChanges } from './told-changes.ts';

/** Tries to read everything while others change so much that it does not hang together. */
const MAX_READS = 5;
/** Texts that are opened before anything else of this process has its turn; measured 2026-11-22: ten microseconds each. */
const MAX_IN_A_ROW = 500;

/** What a look at the server brought. */
export interface Look {
  /** Names whose texts are others now, or gone. */
  readonly changed: readonly string[];
  /** The token of the last owner; empty for none. */
  readonly lastToken: string;
}

/** What the copy is made with. */
export interface SharedTextsOptions extends TextsPlace {
  readonly seal: Seal;
}

interface Known {
  readonly value: string;
  readonly revision: number;
}

/** The copy. Opened texts stay in memory; there is nothing to close. */
export class SharedTexts {
  readonly #options: SharedTextsOptions;
  readonly #known = new Map<string, Known>();
  /** Names whose newest text does not open, with its revision; what was known of them stays. */
  readonly #unread = new Map<string, number>();
  /** Tells a store that began anew from the one that we know. */
  #epoch = '';
  #revision = 0;
  #hasLost = false;
  /** The last owner that was judged. */
  #judged = '';
  /** The last owner, when it began with less than is known here. */
  #newcomer: string | undefined;
  /** The revision up to which everything was known here before that; 0 while nobody needs to know. */
  #knewBefore = 0;
  #hasNewKey = false;
  #looking: Promise<unknown> = Promise.resolve();

  private constructor(options: SharedTextsOptions) {
    this.#options = options;
  }

  /** @throws AppError `store_unavailable`; `store_failed` when a text does not open with the keys. */
  static async open(options: SharedTextsOptions): Promise<SharedTexts> {
    const texts = new SharedTexts(options);
    await texts.#look();
    texts.demandReadable();
    return texts;
  }

  /**
   * Whether the server knows less than we: it was started empty, or anew from an older copy. What is known here stays, until an
   * owner has written it down again ({@link OwnedTexts.restore}).
   */
  get hasLost(): boolean {
    return this.#hasLost;
  }

  /** What whoever takes the ownership from here says: how much is known, and whose ownership does not count against that. */
  get claim(): OwnerClaim {
    return { knows: this.#knows, deposes: this.#newcomer ?? '' };
  }

  /** @throws AppError `store_failed` while the newest text of a name does not open: whoever wrote from here would undo it. */
  demandReadable(): void {
    if (this.#unread.size > 0) {
      throw new AppError('store_failed', 'the shared store does not open: it was sealed with another key, or is damaged');
    }
  }

  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.peek(key));
  }

  /** {@link SharedTexts.get} at once. */
  peek(key: string): string | undefined {
    return this.#known.get(key)?.value;
  }

  /** Names that begin so, sorted. */
  keys(prefix: string): Promise<readonly string[]> {
    return Promise.resolve([...this.#known.keys()].filter((name) => name.startsWith(prefix)).sort());
  }

  /** All texts, for an owner who writes everything. */
  get all(): readonly StoreChange[] {
    return [...this.#known].map(([key, { value }]) => ({ key, value }));
  }

  /**
   * Takes over what others have changed. One look at a time. A text that does not open stays as it was.
   *
   * @throws AppError `store_unavailable`, `store_failed`; what is known stays.
   */
  look(): Promise<Look> {
    const look = this.#looking.then(() => this.#look());
    this.#looking = look.catch(() => undefined);
    return look;
  }

  /** The seal has other keys: the next look tries again what did not open. */
  keysChanged(): void {
    // A look that has begun tries with the keys of before, and would take the news for used.
    this.#looking = this.#looking.then(() => {
      this.#hasNewKey = true;
    });
  }

  /**
   * The same texts for whoever owns them, to be changed.
   *
   * @param onRefused - told when a change was refused, because somebody else owns them.
   */
  owned(token: string, onRefused: (error: AppError) => void): OwnedTexts {
    return new OwnedTexts(this, (changes, isLast) => this.#write(token, changes, isLast, onRefused));
  }

  /** The revision up to which everything is, or was, known here. */
  get #knows(): number {
    return Math.max(this.#revision, this.#knewBefore);
  }

  async #look(): Promise<Look> {
    const since = this.#hasNewKey
      ? Math.min(this.#revision, ...[...this.#unread.values()].map((revision) => revision - 1))
      : this.#revision;
    const first = await askChanges(this.#options, since);
    const { lastToken, epoch, revision, floor } = first;
    this.#judge(first);
    if (lastToken === this.#newcomer) return { changed: await this.#merge(first), lastToken };
    if (epoch === '' || (epoch === this.#epoch && revision < this.#revision)) {
      this.#hasLost = this.#known.size > 0;
      return { changed: [], lastToken };
    }
    const isWhole = epoch !== this.#epoch || (this.#revision > 0 && this.#revision < floor);
    const changed = await (isWhole ? this.#readWhole() : this.#take((await askFollowing(this.#options, first)).told));
    this.#hasNewKey = false;
    if (this.#knewBefore === 0) this.#hasLost = false;
    return { changed, lastToken };
  }

  /**
   * An owner that began with less than is known here was started after the server had lost something, and before anybody could
   * write that down again. What it writes is newer than all that is known here, and what it does not write it does not know.
   */
  #judge({ lastToken, from, epoch }: ToldChanges): void {
    if (lastToken === this.#judged) return;
    this.#judged = lastToken;
    const isNewcomer = from >= 0 && from < this.#knows && this.#known.size > 0;
    this.#newcomer = isNewcomer ? lastToken : undefined;
    if (!isNewcomer) return;
    this.#knewBefore = this.#knows;
    this.#hasLost = true;
    this.#beginAt(epoch, epoch === this.#epoch ? Math.min(this.#revision, from) : 0);
  }

  /** What a newcomer has written, beside everything else that is known. */
  async #merge({ epoch }: ToldChanges): Promise<readonly string[]> {
    if (epoch !== this.#epoch) this.#beginAt(epoch, 0);
    const { told } = await askFollowing(this.#options, await askChanges(this.#options, this.#revision));
    return this.#take(told);
  }

  /** Whatever is told after this revision is believed: revisions of before say nothing about these. */
  #beginAt(epoch: string, revision: number): void {
    this.#epoch = epoch;
    this.#revision = revision;
    for (const [name, { value }] of this.#known) this.#known.set(name, { value, revision: 0 });
  }

  /** Everything; names that are not told are gone. */
  async #readWhole(): Promise<readonly string[]> {
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const first = await askChanges(this.#options, 0);
      const { told, last } = await askFollowing(this.#options, first);
      // While it was read, something may have gone without a trace, or begun anew.
      if (last.epoch !== first.epoch || last.floor !== first.floor) continue;
      const names = new Set(told.map(({ name }) => name));
      const gone = [...this.#known.keys()].filter((name) => !names.has(name));
      for (const name of gone) this.#known.delete(name);
      this.#unread.clear();
      this.#beginAt(first.epoch, 0);
      this.#knewBefore = 0;
      return [...gone, ...(await this.#take(told))];
    }
    throw new AppError('store_failed', 'the shared store changes faster than it can be read');
  }

  /** @returns the names whose texts are others now, or gone. */
  async #take(told: readonly ToldChange[]): Promise<readonly string[]> {
    const changed: string[] = [];
    // They come in this order. Nobody may hear meanwhile that less is known than is about to be.
    this.#revision = Math.max(this.#revision, told.at(-1)?.revision ?? 0);
    for (const [index, { name, revision, sealed }] of told.entries()) {
      if (index % MAX_IN_A_ROW === MAX_IN_A_ROW - 1) await new Promise(setImmediate);
      const known = this.#known.get(name);
      if (known !== undefined && known.revision >= revision) continue;
      const value = sealed === '' ? undefined : this.#opened(name, sealed);
      if (sealed !== '' && value === undefined) this.#unread.set(name, revision);
      else {
        this.#put(name, value, revision);
        if (known?.value !== value) changed.push(name);
      }
    }
    return changed;
  }

  #put(name: string, value: string | undefined, revision: number): void {
    this.#unread.delete(name);
    if (value === undefined) this.#known.delete(name);
    else this.#known.set(name, { value, revision });
  }

  #opened(name: string, sealed: string): string | undefined {
    try {
      return this.#options.seal.open(sealed, ownerOf(name));
    } catch {
      // Of another key, or damaged: what was known of it is better than nothing.
      return undefined;
    }
  }

  /**
   * @param isLast - whether the server has again, with these, all that it had lost.
   * @throws AppError `store_failed`: nothing is changed here, and most likely nothing there.
   */
  async #write(token: string, changes: readonly StoreChange[], isLast: boolean, onRefused: (error: AppError) => void): Promise<void> {
    const { seal } = this.#options;
    const sealed = changes.map(({ key, value }) => ({
      name: key,
      sealed: value === undefined ? '' : seal.close(value, ownerOf(key)),
    }));
    const use = isLast ? 'last' : this.#hasLost ? 'part' : '';
    const written = await writeChanges(this.#options, { token, revision: this.#revision, use, changes: sealed });
    if (written.kind === 'refused') {
      const refused = new AppError('store_failed', 'the shared store cannot be written: another process renews by now');
      onRefused(refused);
      throw refused;
    }
    const { epoch, before, after } = written;
    for (const [index, { key, value }] of changes.entries()) this.#put(key, value, after - changes.length + index + 1);
    this.#epoch = epoch;
    if (before < this.#revision) this.#hasLost = true;
    if (isLast) [this.#hasLost, this.#knewBefore] = [false, 0];
    // Else there is something that we have not seen, and the next look brings it.
    if (before <= this.#revision) this.#revision = after;
  }
}

/** What the seal of a text is bound to: moved under another name it does not open. */
function ownerOf(name: string): string {
  return `shared-texts/${name}`;
}
