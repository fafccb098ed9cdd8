// The secrets of the administration where several processes share them: sealed texts on one server, and here an opened copy of
// them that follows what others change. Writing needs the token of the owner (owner-lease.ts); reading needs nobody.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AppError, toAppError } from '../../base/errors.ts';
import { demandInBounds, type StoreChange } from '../durable-store.ts';
import type { Seal } from '../seal.ts';
import { NEWS, type AdminPlace, type SharedServer } from './admin-place.ts';
import { CHANGES, WRITE } from './admin-scripts.ts';

/** Most names: four for each of the organizations that are kept at most, and a few. */
const MAX_NAMES = 20_100;
/** Names that are gone and told of; whoever looked away for longer reads everything anew. */
const MAX_GONE = 2000;
/** Names read, and changes written, in one step: the server answers nobody else meanwhile. */
const MAX_AT_ONCE = 200;
/** Tries to read everything while others change so much that it does not hang together. */
const MAX_READS = 5;

const answerOfChanges = z.tuple([z.string(), z.number(), z.number(), z.string()]).rest(z.union([z.string(), z.number()]));
const answerOfWrite = z.union([
  z.tuple([z.literal(1), z.string(), z.number(), z.number()]),
  z.tuple([z.literal(0)]),
  z.tuple([z.literal(-1)]),
]);

/** What a look at the server brought. */
export interface Look {
  /** Names whose texts are others now, or gone. */
  readonly changed: readonly string[];
  /** The token of the last owner; empty for none. */
  readonly lastToken: string;
}

/** What the copy is made with. */
export interface SharedTextsOptions {
  readonly server: Pick<SharedServer, 'run'>;
  readonly place: AdminPlace;
  readonly seal: Seal;
}

interface Known {
  readonly value: string;
  readonly revision: number;
}

/** What a look brought into the copy. */
interface Taken {
  readonly changed: readonly string[];
  /** Texts that do not open. */
  readonly unreadable: number;
}

/** One change as the server tells it. */
interface Told {
  readonly name: string;
  readonly revision: number;
  /** Empty: it is gone. */
  readonly sealed: string;
}

/** The copy. Opened texts stay in memory; there is nothing to close. */
export class SharedTexts {
  readonly #options: SharedTextsOptions;
  readonly #known = new Map<string, Known>();
  /** Tells a store that began anew from the one that we know. */
  #epoch = '';
  #revision = 0;
  #hasLost = false;
  #looking: Promise<unknown> = Promise.resolve();

  private constructor(options: SharedTextsOptions) {
    this.#options = options;
  }

  /** @throws AppError `store_unavailable`; `store_failed` when a text does not open with the keys. */
  static async open(options: SharedTextsOptions): Promise<SharedTexts> {
    const texts = new SharedTexts(options);
    const { unreadable } = await texts.#look();
    if (unreadable > 0) throw doesNotOpen();
    return texts;
  }

  /**
   * Whether the server knows less than we: it was started empty, or anew from an older copy. What is known here stays, until an
   * owner has written it down again ({@link OwnedTexts.restore}).
   */
  get hasLost(): boolean {
    return this.#hasLost;
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

  /**
   * The same texts for whoever owns them, to be changed.
   *
   * @param onRefused - told when a change was refused, because somebody else owns them.
   */
  owned(token: string, onRefused: (error: AppError) => void): OwnedTexts {
    return new OwnedTexts(this, (changes, isLast) => this.#write(token, changes, isLast, onRefused));
  }

  /** All texts, for {@link OwnedTexts.restore}. */
  get all(): readonly StoreChange[] {
    return [...this.#known].map(([key, { value }]) => ({ key, value }));
  }

  async #look(): Promise<Look & Taken> {
    const first = await this.#ask(this.#revision);
    const { lastToken } = first;
    if (first.epoch === '' || (first.epoch === this.#epoch && first.revision < this.#revision)) {
      this.#hasLost = this.#known.size > 0;
      return { changed: [], unreadable: 0, lastToken };
    }
    const isWhole = first.epoch !== this.#epoch || (this.#revision > 0 && this.#revision < first.floor);
    const taken = isWhole ? await this.#readWhole() : this.#take((await this.#following(first)).told);
    this.#hasLost = false;
    return { ...taken, lastToken };
  }

  /** Everything; names that are not told are gone. */
  async #readWhole(): Promise<Taken> {
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const first = await this.#ask(0);
      const { told, last } = await this.#following(first);
      // While it was read, something may have gone without a trace, or begun anew.
      if (last.epoch !== first.epoch || last.floor !== first.floor) continue;
      const names = new Set(told.map(({ name }) => name));
      const gone = [...this.#known.keys()].filter((name) => !names.has(name));
      for (const name of gone) this.#known.delete(name);
      // Revisions of another epoch say nothing about these.
      for (const [name, { value }] of this.#known) this.#known.set(name, { value, revision: 0 });
      this.#epoch = first.epoch;
      this.#revision = 0;
      const { changed, unreadable } = this.#take(told);
      return { changed: [...gone, ...changed], unreadable };
    }
    throw new AppError('store_failed', 'the shared store changes faster than it can be read');
  }

  /** The changes of an answer and all after them. */
  async #following(first: Answer): Promise<{ readonly told: readonly Told[]; readonly last: Answer }> {
    const told = [...first.told];
    let last = first;
    while (last.told.length === MAX_AT_ONCE) {
      last = await this.#ask(last.told.at(-1)?.revision ?? 0);
      told.push(...last.told);
    }
    return { told, last };
  }

  #take(told: readonly Told[]): Taken {
    const changed: string[] = [];
    let unreadable = 0;
    for (const { name, revision, sealed } of told) {
      this.#revision = Math.max(this.#revision, revision);
      const known = this.#known.get(name);
      if (known !== undefined && known.revision >= revision) continue;
      const value = sealed === '' ? undefined : this.#opened(name, sealed);
      if (sealed !== '' && value === undefined) unreadable += 1;
      else {
        this.#put(name, value, revision);
        if (known?.value !== value) changed.push(name);
      }
    }
    return { changed, unreadable };
  }

  #put(name: string, value: string | undefined, revision: number): void {
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

  async #ask(since: number): Promise<Answer> {
    const { server, place } = this.#options;
    const reply = await server.run(CHANGES, [place.texts, place.changes, place.state], [String(since), String(MAX_AT_ONCE)]);
    const read = answerOfChanges.safeParse(reply).data;
    if (read === undefined) throw new AppError('store_failed', 'the shared store answers in another form');
    const [epoch, revision, floor, lastToken, ...fields] = read;
    const told: Told[] = [];
    for (let at = 0; at + 2 < fields.length; at += 3) {
      told.push({ name: String(fields[at]), revision: Number(fields[at + 1]), sealed: String(fields[at + 2]) });
    }
    return { epoch, revision, floor, lastToken, told };
  }

  /**
   * @param isLast - whether the server has again, with these, all that it had lost.
   * @throws AppError `store_failed`: nothing is changed here, and most likely nothing there.
   */
  async #write(token: string, changes: readonly StoreChange[], isLast: boolean, onRefused: (error: AppError) => void): Promise<void> {
    const { server, place, seal } = this.#options;
    const keys = [place.texts, place.changes, place.gone, place.state];
    const sealed = changes.flatMap(({ key, value }) => [key, value === undefined ? '' : seal.close(value, ownerOf(key))]);
    const bounds = [
      String(MAX_NAMES),
      String(MAX_GONE),
      String(this.#revision),
      randomUUID(),
      isLast ? 'last' : this.#hasLost ? 'part' : '',
    ];
    const reply = await server.run(WRITE, keys, [token, ...bounds, place.news, NEWS.texts, ...sealed]).catch((thrown: unknown) => {
      throw new AppError('store_failed', 'the shared store cannot be written', { cause: toAppError(thrown, 'store_unavailable') });
    });
    const read = answerOfWrite.safeParse(reply).data;
    if (read === undefined) throw new AppError('store_failed', 'the shared store answers in another form');
    if (read[0] === 0) {
      const refused = deposed();
      onRefused(refused);
      throw refused;
    }
    if (read[0] === -1) throw new AppError('store_failed', `the shared store is full: it takes ${String(MAX_NAMES)} texts`);
    const [, epoch, before, after] = read;
    for (const [index, { key, value }] of changes.entries()) this.#put(key, value, after - changes.length + index + 1);
    this.#epoch = epoch;
    if (before < this.#revision) this.#hasLost = true;
    if (isLast) this.#hasLost = false;
    // Else there is something that we have not seen, and the next look brings it.
    if (before <= this.#revision) this.#revision = after;
  }
}

/** What the server answers when it is asked for changes. */
interface Answer {
  readonly epoch: string;
  readonly revision: number;
  readonly floor: number;
  readonly lastToken: string;
  readonly told: readonly Told[];
}

/** The texts in the hands of one owner. Changes that meet are written in one step. */
export class OwnedTexts {
  readonly #texts: SharedTexts;
  readonly #write: (changes: readonly StoreChange[], isLast: boolean) => Promise<void>;
  #next: { readonly changes: StoreChange[]; readonly written: Promise<void> } | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(texts: SharedTexts, write: (changes: readonly StoreChange[], isLast: boolean) => Promise<void>) {
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
   * @throws AppError `store_failed`, also when somebody else owns the texts by now; nothing is changed here then.
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
    const written = this.#writing.then(() => this.#begin(all));
    this.#next = { changes: all, written };
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /**
   * Writes down again what the server has lost; until all of it is there, others believe what they knew. Does nothing when it has
   * lost nothing.
   *
   * @throws AppError `store_failed`.
   */
  async restore(): Promise<void> {
    if (!this.#texts.hasLost) return;
    await this.rewrite();
    const written = this.#writing.then(() => this.#write([], true));
    this.#writing = written.catch(() => undefined);
    await written;
  }

  /** Writes everything anew, sealed with the key of the moment. @throws AppError `store_failed`. */
  async rewrite(): Promise<void> {
    const { all } = this.#texts;
    for (let at = 0; at < all.length; at += MAX_AT_ONCE) await this.apply(all.slice(at, at + MAX_AT_ONCE));
  }

  #begin(changes: readonly StoreChange[]): Promise<void> {
    if (this.#next?.changes === changes) this.#next = undefined;
    return this.#write(changes, false);
  }
}

/** What the seal of a text is bound to: moved under another name it does not open. */
function ownerOf(name: string): string {
  return `shared-texts/${name}`;
}

function doesNotOpen(): AppError {
  return new AppError('store_failed', 'the shared store does not open: it was sealed with another key, or is damaged');
}

function deposed(): AppError {
  return new AppError('store_failed', 'the shared store cannot be written: another process renews by now');
}
