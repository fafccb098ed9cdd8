// A durable store for few secrets: texts by name, in one sealed file that every write replaces as a whole. For tokens and their data; calls
// are stored elsewhere. Does not interpret the texts.
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { check, lock } from 'proper-lockfile';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import type { Seal } from './seal.ts';

/** Largest file, bytes: enough for thousands of organizations. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Longest name and longest text, characters. */
const MAX_KEY_LENGTH = 200;
const MAX_VALUE_LENGTH = 64 * 1024;
/** The suffix of a temporary file: a number of 32 bits, but not a date, which people append to copies. */
const LEFT_OVER = /^(?!20\d\d(?:0[1-9]|1[0-2])[0-3]\d$)\d{1,10}$/u;
const MAX_LEFT_OVER = 0xffff_ffff;
/** The owner given to the seal: sealed texts of other kinds of files do not open here. */
const OWNER = 'durable-store';
/** Time without renewal after which a lock counts as abandoned by a killed process, ms. A holder renews it five times as often. */
const LOCK_STALE_MS = 5000;
/** Further attempts to get the lock, one a second: in total longer than an abandoned lock takes to become stale. */
const LOCK_TRIES = 8;
/** The detail `reason` of the error that says that another process holds the store. */
export const HELD = 'held';

const fileSchema = z.strictObject({ version: z.literal(1), entries: z.record(z.string(), z.string()) });

/** One change; undefined deletes the text. */
export interface StoreChange {
  readonly key: string;
  readonly value: string | undefined;
}

/** @throws RangeError for a name or text that is too long for any store of secrets. */
export function demandInBounds(changes: readonly StoreChange[]): void {
  for (const { key, value } of changes) {
    if (key === '' || key.length > MAX_KEY_LENGTH) throw new RangeError(`a name has 1 to ${String(MAX_KEY_LENGTH)} characters`);
    if (value !== undefined && value.length > MAX_VALUE_LENGTH)
      throw new RangeError(`a text has at most ${String(MAX_VALUE_LENGTH)} characters`);
  }
}

/** The file of a store and its seal. */
export interface DurableStoreOptions {
  /** Absolute. The folder is created when it is missing. */
  readonly file: string;
  readonly seal: Seal;
  /** Called when another process has taken the store over; from then on nothing is written. */
  readonly onLost?: (error: AppError) => void;
  /** Whether to wait for the lock until that of a killed process has become stale. False: fail at once. Default true. */
  readonly waits?: boolean;
}

/** Whether {@link DurableStore.open} failed because another process holds the store. */
export function isHeldElsewhere(error: unknown): boolean {
  return error instanceof AppError && error.code === 'store_failed' && error.details['reason'] === HELD;
}

/**
 * An open store, held by this process alone. Call `close`.
 *
 * All texts are in memory and in the file. A write resolves when it is on disk; concurrent writes share one file write. A failed write
 * rejects, but its texts stay in memory and are written with the next one, because losing a token is worse than keeping it only in memory.
 */
export class DurableStore {
  readonly #options: DurableStoreOptions;
  readonly #entries: Map<string, string>;
  #release: (() => Promise<void>) | undefined;
  #writing: Promise<void> | undefined;
  /** The write that begins after the current one. */
  #next: Promise<void> | undefined;
  #isLost = false;

  private constructor(options: DurableStoreOptions, entries: ReadonlyMap<string, string>) {
    this.#options = options;
    this.#entries = new Map(entries);
  }

  /**
   * Opens the store for this process alone; without a file it is empty. Removes the temporary files that killed processes left beside it:
   * their names are that of the file with a number appended.
   *
   * @throws AppError `store_failed` when the file cannot be read or does not open with the keys, or another process holds the store.
   */
  static async open(options: DurableStoreOptions): Promise<DurableStore> {
    const folder = path.dirname(options.file);
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
      throw failed('its folder cannot be made', options.file, cause);
    });
    // Lock before reading, because the previous holder may have been writing.
    let store: DurableStore | undefined;
    const release = await takeLock(options, () => {
      if (store !== undefined) store.#lose();
    });
    try {
      store = new DurableStore(options, await readStore(options));
      store.#release = release;
      // Only after the store has opened: a person may need these files to repair a damaged one.
      await removeLeftOver(options.file);
      return store;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** The text with this name; undefined without one. */
  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.#entries.get(key));
  }

  /** Names with this prefix, sorted. */
  keys(prefix: string): Promise<readonly string[]> {
    return Promise.resolve([...this.#entries.keys()].filter((key) => key.startsWith(prefix)).sort());
  }

  /** {@link DurableStore.apply} for one text. */
  set(key: string, value: string): Promise<void> {
    return this.apply([{ key, value }]);
  }

  /** {@link DurableStore.apply} that deletes one text. */
  delete(key: string): Promise<void> {
    return this.apply([{ key, value: undefined }]);
  }

  /**
   * Applies all changes; when the process ends before they are on disk, none of them. Resolves when they are on disk.
   *
   * @throws AppError `store_failed` when the changes are in memory but not on disk.
   * @throws RangeError for a name or text that is too long; then nothing is changed.
   */
  async apply(changes: readonly StoreChange[]): Promise<void> {
    demandInBounds(changes);
    for (const { key, value } of changes) {
      if (value === undefined) this.#entries.delete(key);
      else this.#entries.set(key, value);
    }
    await this.#flush();
  }

  /** Waits for the current write and releases the lock. Idempotent; nothing is written afterwards. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#next]);
    const release = this.#release;
    this.#release = undefined;
    await release?.();
  }

  /** Changes that come during a write share the next write. */
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
      // Writes a temporary file, syncs and renames it: whenever the process ends, the file has the old or the new content.
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
 * Reads a store that another process may hold. Returns an empty map without a file.
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
    // Without a cause, because its message could quote the content.
    throw failed('it does not open: it was sealed with another key, or is damaged', file);
  }
}

/** Whoever can write the file could replace it with an older one, whose tokens and nonces are no longer valid. */
function mayBeWrittenByOthers(mode: number): boolean {
  return (mode & 0o022) !== 0;
}

/** A group may share the folder, as with container volumes. With the sticky bit, only the owner of a file can remove it. */
function mayBeReplacedByOthers(mode: number): boolean {
  return (mode & 0o002) !== 0 && (mode & 0o1000) === 0;
}

/**
 * Whether a process holds the store now. Neither locks nor creates anything.
 *
 * @throws AppError `store_failed` when that cannot be determined.
 */
export async function isHeld({ file }: Pick<DurableStoreOptions, 'file'>): Promise<boolean> {
  try {
    return await check(file, { realpath: false, stale: LOCK_STALE_MS });
  } catch (cause) {
    throw failed('it is unknown whether another process holds it', file, cause);
  }
}

async function takeLock({ file, waits = true }: DurableStoreOptions, onLost: () => void): Promise<() => Promise<void>> {
  try {
    const release = await lock(file, {
      // The file may not exist yet.
      realpath: false,
      stale: LOCK_STALE_MS,
      update: LOCK_STALE_MS / 5,
      retries: { retries: waits ? LOCK_TRIES : 0, factor: 1, minTimeout: 1000, maxTimeout: 1000 },
      onCompromised: onLost,
    });
    // A lost lock cannot be released; its loss has been reported already.
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

/** Removes the temporary files of killed processes. Only under the lock, because then nobody is writing. */
async function removeLeftOver(file: string): Promise<void> {
  const [folder, prefix] = [path.dirname(file), `${path.basename(file)}.`];
  try {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.startsWith(prefix)) continue;
      const rest = entry.name.slice(prefix.length);
      if (LEFT_OVER.test(rest) && Number(rest) <= MAX_LEFT_OVER) await rm(path.join(folder, entry.name), { force: true });
    }
  } catch {
    // No reason not to open: the remaining files are sealed, too, and the next start tries again.
  }
}

/** Syncs a folder, which makes the new name of a file durable. */
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
