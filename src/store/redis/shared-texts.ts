// The secrets of the administration that several servers share: a sealed hash in Redis, and an opened copy that polls keep up to date. Only
// the holder of the lease writes (renewal-lease.ts). When Redis comes back with less data, a server keeps its copy, and the next leader
// writes it again.
import { z } from 'zod';
import { AppError, toAppError } from '../../base/errors.ts';
import { demandInBounds, type StoreChange } from '../durable-store.ts';
import type { Seal } from '../seal.ts';
import { READ, WRITE } from './admin-scripts.ts';
import { answerInvalid, type AdminStore } from './admin-store.ts';
import type { RenewalLease } from './renewal-lease.ts';

/** Most names, including deleted ones: four for each organization, and a few more. */
const MAX_NAMES = 20_100;
/** Most names read or written in one step: Redis serves nobody else meanwhile, and opening them takes a few milliseconds. */
const MAX_AT_ONCE = 200;

const readAnswer = z.tuple([z.string(), z.number(), z.number()]).rest(z.union([z.string(), z.number()]));
const writeAnswer = z.union([z.tuple([z.literal(1), z.number()]), z.tuple([z.literal(0)]), z.tuple([z.literal(-1)])]);

/** The result of a poll. */
export interface Polled {
  /** Names whose texts were changed or deleted. */
  readonly changed: readonly string[];
  /** The token of the leader; empty without a leader. */
  readonly leader: string;
}

interface Change {
  readonly name: string;
  readonly revision: number;
  /** Empty when the name was deleted. */
  readonly sealed: string;
}

interface Answer {
  readonly leader: string;
  /** Number of names, including deleted ones. */
  readonly count: number;
  /** Revision of the last change. */
  readonly last: number;
  readonly changes: readonly Change[];
}

interface Known {
  /** Undefined when the name was deleted. */
  readonly value: string | undefined;
  readonly revision: number;
}

/** The texts as the leader reads and writes them. */
export interface LeaderTexts {
  get(key: string): Promise<string | undefined>;
  keys(prefix: string): Promise<readonly string[]>;
  /**
   * Resolves when Redis has the text; then every other server can read it.
   *
   * @throws AppError `store_failed`, also when another server leads; then nothing is changed.
   * @throws RangeError for a name or text that is too long.
   */
  set(key: string, value: string): Promise<void>;
  /** @throws AppError `store_failed`. */
  delete(key: string): Promise<void>;
  /** Writes again what Redis has lost, if anything. @throws AppError `store_failed`. */
  restore(): Promise<void>;
  /** Writes all texts again, sealed with the current key. @throws AppError `store_failed`. */
  rewrite(): Promise<void>;
}

/** This server's copy of the texts. Opened texts stay in memory; there is nothing to close. */
export class SharedTexts {
  readonly #store: AdminStore;
  readonly #seal: Seal;
  readonly #known = new Map<string, Known>();
  /** Names whose newest text does not open; the last readable text stays. */
  readonly #unread = new Set<string>();
  /** Names of which we have a newer text than Redis. */
  #lost = new Set<string>();
  /** The token of the leader at the last poll. */
  #leader = '';
  /** The revision up to which polls have read. */
  #revision = 0;
  #mustReadAll = false;
  #polling: Promise<unknown> = Promise.resolve();

  private constructor(store: AdminStore, seal: Seal) {
    this.#store = store;
    this.#seal = seal;
  }

  /** @throws AppError `store_unavailable`; `store_failed` when a text does not open with the keys. */
  static async open(store: AdminStore, seal: Seal): Promise<SharedTexts> {
    const texts = new SharedTexts(store, seal);
    await texts.poll();
    texts.demandReadable();
    return texts;
  }

  /** The token of a leader that must be deposed, because it began with older texts than this server has; empty for none. */
  get deposes(): string {
    return this.#lost.size > 0 && this.#unread.size === 0 ? this.#leader : '';
  }

  /** @throws AppError `store_failed` while the newest text of a name does not open: a leader would replace it with an older one. */
  demandReadable(): void {
    if (this.#unread.size > 0) {
      throw new AppError('store_failed', 'the shared store does not open: it was sealed with another key, or is damaged');
    }
  }

  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.peek(key));
  }

  /** As {@link SharedTexts.get}, but synchronous. */
  peek(key: string): string | undefined {
    return this.#known.get(key)?.value;
  }

  /** Names with this prefix, sorted. */
  keys(prefix: string): Promise<readonly string[]> {
    const names = [...this.#known].flatMap(([name, { value }]) => (value === undefined ? [] : [name]));
    return Promise.resolve(names.filter((name) => name.startsWith(prefix)).sort());
  }

  /**
   * Reads what others have changed, one poll at a time. A text that does not open keeps its last readable value.
   *
   * @throws AppError `store_unavailable`, `store_failed`; known texts stay.
   */
  poll(): Promise<Polled> {
    const polled = this.#polling.then(() => this.#poll());
    this.#polling = polled.catch(() => undefined);
    return polled;
  }

  /** Makes the next poll read everything: Redis may have come back with less data, or the seal has another key. */
  readAll(): void {
    // After a running poll, which resets the mark when it ends.
    this.#polling = this.#polling.then(() => {
      this.#mustReadAll = true;
    });
  }

  /** The texts for the holder of the lease. A refused write ends the lease. */
  ledBy(lease: Pick<RenewalLease, 'token' | 'lose'>): LeaderTexts {
    const write = (changes: readonly StoreChange[]): Promise<void> => this.#write(lease, changes);
    const writeAgain = async (names: readonly string[]): Promise<void> => {
      for (let at = 0; at < names.length; at += MAX_AT_ONCE) {
        await write(names.slice(at, at + MAX_AT_ONCE).map((key) => ({ key, value: this.peek(key) })));
      }
    };
    return {
      get: (key) => this.get(key),
      keys: (prefix) => this.keys(prefix),
      set: (key, value) => write([{ key, value }]),
      delete: (key) => (this.peek(key) === undefined ? Promise.resolve() : write([{ key, value: undefined }])),
      restore: () => writeAgain([...this.#lost]),
      rewrite: () => writeAgain([...this.#known.keys()]),
    };
  }

  async #poll(): Promise<Polled> {
    const first = await this.#read(this.#mustReadAll ? 0 : this.#revision);
    const readsAll = this.#mustReadAll || first.count < this.#known.size || first.last < this.#revision;
    const { leader, ...answer } = readsAll && !this.#mustReadAll ? await this.#read(0) : first;
    let { last, changes } = answer;
    const seen = new Map<string, number>();
    const changed: string[] = [];
    for (;;) {
      for (const change of changes) {
        seen.set(change.name, change.revision);
        if (this.#take(change)) changed.push(change.name);
      }
      last = changes.at(-1)?.revision ?? last;
      if (changes.length < MAX_AT_ONCE) break;
      // A name that changes meanwhile gets a higher revision, so it is not missed.
      ({ changes } = await this.#read(last));
    }
    if (readsAll) {
      const isLost = ([name, { revision }]: [string, Known]): boolean => (seen.get(name) ?? 0) < revision;
      this.#lost = new Set([...this.#known].filter(isLost).map(([name]) => name));
    }
    this.#mustReadAll = false;
    this.#revision = last;
    this.#leader = leader;
    return { changed, leader };
  }

  /** @returns whether the text has changed. */
  #take({ name, revision, sealed }: Change): boolean {
    const known = this.#known.get(name);
    if (known !== undefined && known.revision >= revision) return false;
    const value = sealed === '' ? undefined : this.#opened(name, sealed);
    if (sealed !== '' && value === undefined) {
      this.#unread.add(name);
      return false;
    }
    this.#put(name, value, revision);
    return known?.value !== value;
  }

  #put(name: string, value: string | undefined, revision: number): void {
    this.#unread.delete(name);
    this.#lost.delete(name);
    this.#known.set(name, { value, revision });
  }

  #opened(name: string, sealed: string): string | undefined {
    try {
      return this.#seal.open(sealed, ownerOf(name));
    } catch {
      // Sealed with another key, or damaged: the last readable text is better than none.
      return undefined;
    }
  }

  async #read(since: number): Promise<Answer> {
    const { keys } = this.#store;
    const reply = await this.#store.run(READ, [keys.lease, keys.texts, keys.changes], [String(since), String(MAX_AT_ONCE)]);
    const read = readAnswer.safeParse(reply).data;
    if (read === undefined) throw answerInvalid();
    const [leader, count, last, ...fields] = read;
    const changes: Change[] = [];
    for (let at = 0; at + 2 < fields.length; at += 3) {
      changes.push({ name: String(fields[at]), revision: Number(fields[at + 1]), sealed: String(fields[at + 2]) });
    }
    return { leader, count, last, changes };
  }

  async #write(lease: Pick<RenewalLease, 'token' | 'lose'>, changes: readonly StoreChange[]): Promise<void> {
    demandInBounds(changes);
    const { keys } = this.#store;
    const sealed = changes.flatMap(({ key, value }) => [key, value === undefined ? '' : this.#seal.close(value, ownerOf(key))]);
    const args = [lease.token, String(MAX_NAMES), ...sealed];
    const reply = await this.#store.run(WRITE, [keys.lease, keys.texts, keys.changes], args).catch((thrown: unknown) => {
      throw new AppError('store_failed', 'the shared store cannot be written', { cause: toAppError(thrown, 'store_unavailable') });
    });
    const [kind, revision = 0] = writeAnswer.safeParse(reply).data ?? [];
    if (kind === undefined) throw answerInvalid();
    if (kind === -1) throw new AppError('store_failed', `the shared store is full: it takes ${String(MAX_NAMES)} texts`);
    if (kind === 0) {
      const refused = new AppError('store_failed', 'the shared store cannot be written: another process renews by now');
      lease.lose(refused);
      throw refused;
    }
    for (const [index, { key, value }] of changes.entries()) this.#put(key, value, revision - changes.length + index + 1);
  }
}

/** The owner for the seal: a text does not open under another name. */
function ownerOf(name: string): string {
  return `shared-texts/${name}`;
}
