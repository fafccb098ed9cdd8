// Polls files that may be replaced while the process runs, and applies a change once it is complete. Compares contents only: when a
// link is swapped, time and size of the file may stay the same. Knows nothing of what the files hold.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { every, type CancelTimer, type Clock } from './clock.ts';
import { AppError, toAppError, type ErrorCode } from './errors.ts';
import type { Logger } from './log.ts';

/** Time between two polls, ms. A change counts when two polls in a row find it, because files are not written in one moment. */
export const CHECK_MS = 2000;
/** Largest file, bytes: certificates, keys and short lists. */
const MAX_FILE_BYTES = 1_048_576;

/** Files that belong together. */
export interface Watch<What extends string> {
  /** Name of the files in the log and for `onChecked`. */
  readonly what: What;
  /** Absolute paths. */
  readonly files: readonly string[];
  /** Error code when one cannot be read. */
  readonly code: ErrorCode;
  /**
   * Applies the contents, in the order of the files; also called with contents that are in use already. Must change nothing when it
   * throws.
   *
   * @returns whether anything changed.
   */
  readonly take: (contents: readonly Buffer[]) => boolean;
}

export interface WatchedFilesOptions<What extends string> {
  readonly clock: Clock;
  readonly log: Logger;
  /** Notified whether the current contents are in use, for the first time when following begins; must not throw. */
  readonly onChecked?: (what: What, isTaken: boolean) => void;
}

/** The result of a check of the current contents. */
export type Verdict = 'taken' | 'unchanged' | 'refused';

/** A verdict, with the reason of a refusal. */
export interface Checked {
  readonly verdict: Verdict;
  readonly why?: string;
}

/** All watches of a process. `close` must be called. */
export class WatchedFiles<What extends string> {
  readonly #options: WatchedFilesOptions<What>;
  readonly #followers: Follower<What>[] = [];
  #cancelTimer: CancelTimer | undefined;
  #isClosed = false;

  constructor(options: WatchedFilesOptions<What>) {
    this.#options = options;
  }

  /** Follows these files from now on; a change before the first poll counts. */
  follow(watch: Watch<What>): void {
    if (this.#isClosed || watch.files.length === 0) return;
    this.#options.onChecked?.(watch.what, true);
    this.#followers.push(new Follower(watch, this.#options));
    this.#cancelTimer ??= every(this.#options.clock, CHECK_MS, () => {
      for (const each of this.#followers) each.poll();
    });
  }

  /** Checks now. Only for when all files are completely written: a change counts without a second poll. */
  checkNow(): Promise<readonly (Checked & { readonly what: What })[]> {
    return Promise.all(this.#followers.map(async (each) => ({ what: each.what, ...(await each.checkNow()) })));
  }

  /** Resolves when no poll is running. */
  async polled(): Promise<void> {
    await Promise.all(this.#followers.map(({ polling }) => polling));
  }

  /** Stops polling and waits for a running poll, which changes nothing any more. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    for (const follower of this.#followers) follower.close();
    await this.polled();
  }
}

/**
 * Reads files, in their order.
 *
 * @param code - of the error.
 * @throws AppError when one cannot be read, is no file or too large; its message names the file and nothing of its content.
 */
export async function readFiles(files: readonly string[], code: ErrorCode): Promise<readonly Buffer[]> {
  return Promise.all(files.map((file) => contentOf(file, code)));
}

async function contentOf(file: string, code: ErrorCode): Promise<Buffer> {
  let found: Awaited<ReturnType<typeof stat>>;
  try {
    found = await stat(file);
    // Reading a pipe may never end.
    if (found.isFile() && found.size <= MAX_FILE_BYTES) return await readFile(file);
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : '';
    throw new AppError(code, `the file ${file} cannot be read${why}`, { details: { file }, cause });
  }
  const why = found.isFile() ? `has more than ${String(MAX_FILE_BYTES)} bytes` : 'is no file';
  throw new AppError(code, `the file ${file} cannot be read: it ${why}`, { details: { file } });
}

/** What a poll found. `mark` is equal for equal contents, and for equal errors. */
type Found = { readonly mark: string } & ({ readonly contents: readonly Buffer[] } | { readonly error: AppError });

/** One watch and its state. */
class Follower<What extends string> {
  readonly #watch: Watch<What>;
  readonly #options: WatchedFilesOptions<What>;
  /** Mark of the last poll. */
  #seen = '';
  /** Mark of the contents that were applied or refused last. */
  #applied = '';
  /** Why the current contents are not used; undefined: they are. */
  #refusal: string | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(watch: Watch<What>, options: WatchedFilesOptions<What>) {
    this.#watch = watch;
    this.#options = options;
  }

  get what(): What {
    return this.#watch.what;
  }

  get polling(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Polls of one watch never overlap, and a network folder that does not answer delays only its own files. */
  poll(): void {
    this.#running ??= this.#poll().finally(() => {
      this.#running = undefined;
    });
  }

  async checkNow(): Promise<Checked> {
    await this.polling;
    const found = await this.#find();
    if (found === undefined) return { verdict: 'unchanged' };
    this.#seen = found.mark;
    // A requested check logs again why contents are refused.
    this.#applied = '';
    return this.#apply(found);
  }

  async #find(): Promise<Found | undefined> {
    const found = await find(this.#watch.files, this.#watch.code);
    return this.#isClosed ? undefined : found;
  }

  async #poll(): Promise<void> {
    const found = await this.#find();
    if (found === undefined) return;
    const isAtRest = found.mark === this.#seen;
    this.#seen = found.mark;
    // Refused contents are tried again: a certificate may become valid later.
    if (isAtRest && (found.mark !== this.#applied || this.#refusal !== undefined)) this.#apply(found);
  }

  #apply(found: Found): Checked {
    const { what, files, take } = this.#watch;
    const { log, onChecked } = this.#options;
    const isNews = found.mark !== this.#applied;
    this.#applied = found.mark;
    let isChanged = false;
    try {
      if ('error' in found) throw found.error;
      isChanged = take(found.contents);
      if (isChanged) log.info({ event: 'files_taken', what, files }, 'files have changed and are in use');
      else if (this.#refusal !== undefined) log.info({ event: 'files_taken', what, files }, 'the files are again what is in use');
      this.#refusal = undefined;
    } catch (thrown) {
      const error = toAppError(thrown, 'internal', 'the changed files could not be put to use');
      this.#refusal = error.message;
      // The operator reads the message first, so it holds the reason.
      const text = `the changed files are not used, what was there before goes on: ${error.message}`;
      if (isNews) log.error({ event: 'files_refused', what, files, err: error }, text);
    }
    onChecked?.(what, this.#refusal === undefined);
    if (this.#refusal !== undefined) return { verdict: 'refused', why: this.#refusal };
    return { verdict: isChanged ? 'taken' : 'unchanged' };
  }
}

async function find(files: readonly string[], code: ErrorCode): Promise<Found> {
  try {
    const contents = await readFiles(files, code);
    const hash = createHash('sha256');
    for (const content of contents) hash.update(`${String(content.length)} `).update(content);
    return { mark: hash.digest('hex'), contents };
  } catch (thrown) {
    const error = toAppError(thrown, code);
    return { mark: error.message, error };
  }
}
