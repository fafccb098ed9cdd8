// Keeps a handful of secrets through the end of the process, however it ends: texts by name, in one sealed file that is
// replaced as a whole. For tokens and what belongs to them; calls live elsewhere. Knows none of the texts.
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { check, lock } from 'proper-lockfile';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import type { Seal } from './seal.ts';

/** Largest file, bytes: thousands of organizations; a larger one is not ours. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Longest name and longest text, characters. */
const MAX_KEY_LENGTH = 200;
const MAX_VALUE_LENGTH = 64 * 1024;
/** What the writer puts behind the file's name for what it writes beside: 32 bits. A day, as people name copies by, is none. */
const LEFT_OVER = /^(?!20\d\d(?:0[1-9]|1[0-2])[0-3]\d$)\d{1,10}$/u;
const MAX_LEFT_OVER = 0xffff_ffff;
/** What the seal is bound to: the text of another kind of file does not open here. */
const OWNER = 'durable-store';
/**
 * A lock that was not renewed for so long, ms, belonged to a process that was killed. It is renewed five times as often.
 */
const LOCK_STALE_MS = 5000;
/** Tries to get the lock beside the first, one a second: longer than a lock takes to go stale. */
const LOCK_TRIES = 8;
/** The detail `reason` of the error when another process holds the store. */
export const HELD = 'held';

const fileSchema = z.strictObject({ version: z.literal(1), entries: z.record(z.string(), z.string()) });

/** One change; undefined takes the text away. */
export interface StoreChange {
  readonly key: string;
  readonly value: string | undefined;
}

/** @throws RangeError for a name or text beyond the bounds of every store of secrets. */
export function demandInBounds(changes: readonly StoreChange[]): void {
  for (const { key, value } of changes) {
    if (key === '' || key.length > MAX_KEY_LENGTH) throw new RangeError(`a name has 1 to ${String(MAX_KEY_LENGTH)} characters`);
    if (value !== undefined && value.length > MAX_VALUE_LENGTH)
      throw new RangeError(`a text has at most ${String(MAX_VALUE_LENGTH)} characters`);
  }
}

/** Where a store lies and what seals it. */
export interface DurableStoreOptions {
  /** Absolute. Its folder is made when it is not there. */
  readonly file: string;
  readonly seal: Seal;
  /** Called when another process has taken the file away; nothing is written from then on. */
  readonly onLost?: (error: AppError) => void;
  /** False: a store that another process holds is not waited for. Default true: as long as a killed process seems to hold it. */
  readonly waits?: boolean;
}

/** Whether an error of {@link DurableStore.open} says that another process holds the store. */
export function isHeldElsewhere(error: unknown): boolean {
  return error instanceof AppError && error.code === 'store_failed' && error.details['reason'] === HELD;
}

/**
 * An open store. Held by one process at a time, which must `close` it.
 *
 * Everything is in memory and on disk. A write resolves when it is on disk; writes that meet are
 * one. A write that fails rejects, and what it wrote stays in memory and goes out with the next one, because a token
 * that cannot be saved is better than none.
 */
export class DurableStore {
  readonly #options: DurableStoreOptions;
  readonly #entries: Map<string, string>;
  #release: (() => Promise<void>) | undefined;
  #writing: Promise<void> | undefined;
  /** The write after the one that is under way. */
  #next: Promise<void> | undefined;
  #isLost = false;

  private constructor(options: DurableStoreOptions, entries: ReadonlyMap<string, string>) {
    this.#options = options;
    this.#entries = new Map(entries);
  }

  /**
   * Opens the store for this process alone; an empty one when there is no file yet. Takes away the half-written files
   * that killed processes left beside it, which are named like it with a number behind.
   *
   * @throws AppError `store_failed` when the file cannot be read, does not open with the keys, or another process holds it.
   */
  static async open(options: DurableStoreOptions): Promise<DurableStore> {
    const folder = path.dirname(options.file);
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
      throw failed('its folder cannot be made', options.file, cause);
    });
    // Locked before it is read: whoever held it may have been writing.
    let store: DurableStore | undefined;
    const release = await takeLock(options, () => {
      if (store !== undefined) store.#lose();
    });
    try {
      store = new DurableStore(options, await readStore(options));
      store.#release = release;
      // Not before it opened: what a person may still need to mend a damaged store is left alone.
      await removeLeftOver(options.file);
      return store;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** The text of that name. */
  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.#entries.get(key));
  }

  /** Names that begin so, sorted. */
  keys(prefix: string): Promise<readonly string[]> {
    return Promise.resolve([...this.#entries.keys()].filter((key) => key.startsWith(prefix)).sort());
  }

  /** {@link DurableStore.apply} for one text. */
  set(key: string, value: string): Promise<void> {
    return this.apply([{ key, value }]);
  }

  /** {@link DurableStore.apply} that takes one text away. */
  delete(key: string): Promise<void> {
    return this.apply([{ key, value: undefined }]);
  }

  /**
   * Makes all changes or, when the process ends before they are on disk, none. Resolves when they are on disk.
   *
   * @throws AppError `store_failed`: they are in memory but not on disk.
   * @throws RangeError for a name or text beyond its bounds; nothing is changed then.
   */
  async apply(changes: readonly StoreChange[]): Promise<void> {
    demandInBounds(changes);
    for (const { key, value } of changes) {
      if (value === undefined) this.#entries.delete(key);
      else this.#entries.set(key, value);
    }
    await this.#flush();
  }

  /** Waits for what is being written and gives the file free. Idempotent; nothing is written afterwards. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#next]);
    const release = this.#release;
    this.#release = undefined;
    await release?.();
  }

  /** Writes that come while one is under way share the next. */
  #flush(): Promise<void> {
    if (this.#writing === undefined && this.#next === undefined) return this.#begin();
    this.#next ??= (this.#writing ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#begin();
      });
    return this.#next;
  }

  #begin(): Promise<void> {
    const writing = this.#write().finally(() => {
      if (this.#writing === writing) this.#writing = undefined;
    });
    this.#writing = writing;
    return writing;
  }

  async #write(): Promise<void> {
    const { file, seal } = this.#options;
    if (this.#isLost) throw lost(file);
    if (this.#release === undefined) throw failed('it is closed', file);
    const text = JSON.stringify({ version: 1, entries: Object.fromEntries(this.#entries) } satisfies z.infer<typeof fileSchema>);
    const sealed = seal.close(text, OWNER);
    if (sealed.length > MAX_FILE_BYTES) throw failed(`it would be larger than ${String(MAX_FILE_BYTES)} bytes`, file);
    try {
      // Written beside, synced and renamed: whenever the process ends, the file is the one before or the one after.
      await writeFileAtomic(file, sealed, { mode: 0o600 });
      await syncFolder(path.dirname(file));
    } catch (cause) {
      throw failed('it cannot be written', file, cause);
    }
  }

  #lose(): void {
    this.#isLost = true;
    this.#options.onLost?.(lost(this.#options.file));
  }
}

/**
 * What a store holds, for somebody who only looks: another process may hold it at the same time. Empty without a file.
 *
 * @throws AppError `store_failed`.
 */
export async function readStore({ file, seal }: DurableStoreOptions): Promise<ReadonlyMap<string, string>> {
  let sealed: string;
  try {
    const { size, mode } = await stat(file);
    const folder = path.dirname(file);
    if (mayBeWrittenByOthers(mode)) throw failed(`others may write it; take that away with \`chmod go-w ${file}\``, file);
    if (mayBeReplacedByOthers((await stat(folder)).mode)) {
      throw failed(`others may replace it; take that away with \`chmod o-w ${folder}\``, file);
    }
    if (size > MAX_FILE_BYTES) throw failed(`it is larger than ${String(MAX_FILE_BYTES)} bytes`, file);
    sealed = await readFile(file, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return new Map();
    throw thrown instanceof AppError ? thrown : failed('it cannot be read', file, thrown);
  }
  try {
    return new Map(Object.entries(fileSchema.parse(JSON.parse(seal.open(sealed, OWNER))).entries));
  } catch {
    // No cause: what does not fit the schema could be quoted in it.
    throw failed('it does not open: it was sealed with another key, or is damaged', file);
  }
}

/** Whoever writes it could put an older one in its place, with tokens and nonces that are used up. */
function mayBeWrittenByOthers(mode: number): boolean {
  return (mode & 0o022) !== 0;
}

/** A group may share the folder, as volumes of containers do; with the sticky bit nobody takes away what is another's. */
function mayBeReplacedByOthers(mode: number): boolean {
  return (mode & 0o002) !== 0 && (mode & 0o1000) === 0;
}

/**
 * Whether a process holds a store now; takes and makes nothing.
 *
 * @throws AppError `store_failed` when it cannot be told.
 */
export async function isHeld({ file }: Pick<DurableStoreOptions, 'file'>): Promise<boolean> {
  try {
    return await check(file, { realpath: false, stale: LOCK_STALE_MS });
  } catch (cause) {
    throw failed('it cannot be told whether another process holds it', file, cause);
  }
}

async function takeLock({ file, waits = true }: DurableStoreOptions, onLost: () => void): Promise<() => Promise<void>> {
  try {
    const release = await lock(file, {
      // The file may not be there yet.
      realpath: false,
      stale: LOCK_STALE_MS,
      update: LOCK_STALE_MS / 5,
      retries: { retries: waits ? LOCK_TRIES : 0, factor: 1, minTimeout: 1000, maxTimeout: 1000 },
      onCompromised: onLost,
    });
    // A lock that was taken away cannot be given back, and that is no news any more.
    return () => release().catch(() => undefined);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ELOCKED') {
      throw new AppError('store_failed', 'the sealed store cannot be used: another process holds it', {
        details: { file, reason: HELD },
        cause,
      });
    }
    throw failed('it cannot be locked', file, cause);
  }
}

/** Takes away what killed processes wrote beside the file and never renamed. Only under the lock: nobody is writing. */
async function removeLeftOver(file: string): Promise<void> {
  const [folder, prefix] = [path.dirname(file), `${path.basename(file)}.`];
  try {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.startsWith(prefix)) continue;
      const rest = entry.name.slice(prefix.length);
      if (LEFT_OVER.test(rest) && Number(rest) <= MAX_LEFT_OVER) await rm(path.join(folder, entry.name), { force: true });
    }
  } catch {
    // Sealed as the file is, and tried again with the next start: no reason not to open.
  }
}

/** The new name of a file is on disk when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function failed(why: string, file: string, cause?: unknown): AppError {
  return new AppError('store_failed', `the sealed store cannot be used: ${why}`, { details: { file }, cause });
}

function lost(file: string): AppError {
  return failed('another process has taken it over', file);
}
