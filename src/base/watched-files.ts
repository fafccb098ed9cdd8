// Looks every few seconds at files that may be replaced while the process runs, and hands a change on once it has come to
// rest. Contents are compared and nothing else: links are swapped, and times and sizes may stay. Knows nothing of what is in them.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { every, type CancelTimer, type Clock } from './clock.ts';
import { AppError, toAppError, type ErrorCode } from './errors.ts';
import type { Logger } from './log.ts';

/** Pause between two looks, ms. A change counts when two looks in a row have found it: files are not written in one moment. */
export const CHECK_MS = 2000;
/** Largest file, bytes: certificates, keys and short lists. */
const MAX_FILE_BYTES = 1_048_576;

/** Files that belong together. */
export interface Watch<What extends string> {
  /** Their name in the log and for `onJudged`. */
  readonly what: What;
  /** Absolute. */
  readonly files: readonly string[];
  /** What it means that one cannot be read. */
  readonly code: ErrorCode;
  /**
   * Puts the contents to use, in the order of the files; also called with what is in use already. Whoever throws has changed
   * nothing.
   *
   * @returns whether anything is different now.
   */
  readonly take: (contents: readonly Buffer[]) => boolean;
}

export interface WatchedFilesOptions<What extends string> {
  readonly clock: Clock;
  readonly log: Logger;
  /** Notified whether what lies in the files is in use, first when they are followed; must not throw. */
  readonly onJudged?: (what: What, isTaken: boolean) => void;
}

/** What became of what lies in the files. */
export type Verdict = 'taken' | 'unchanged' | 'refused';

/** All watches of a process. `close` must be called. */
export class WatchedFiles<What extends string> {
  readonly #options: WatchedFilesOptions<What>;
  readonly #followers: Follower<What>[] = [];
  #cancelTimer: CancelTimer | undefined;
  #isClosed = false;

  constructor(options: WatchedFilesOptions<What>) {
    this.#options = options;
  }

  /** Follows these files from now on; one that changes before the first look counts as changed, too. */
  follow(watch: Watch<What>): void {
    if (this.#isClosed || watch.files.length === 0) return;
    this.#options.onJudged?.(watch.what, true);
    this.#followers.push(new Follower(watch, this.#options));
    this.#cancelTimer ??= every(this.#options.clock, CHECK_MS, () => {
      for (const each of this.#followers) each.look();
    });
  }

  /** Looks at once, for somebody who says that everything is written; a change counts without a second look. */
  checkNow(): Promise<readonly { readonly what: What; readonly verdict: Verdict }[]> {
    return Promise.all(this.#followers.map(async (each) => ({ what: each.what, verdict: await each.checkNow() })));
  }

  /** Resolves when the looks that are under way are over. */
  async looked(): Promise<void> {
    await Promise.all(this.#followers.map(({ looking }) => looking));
  }

  /** Looks no more; a look that is under way is waited for and changes nothing. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    for (const follower of this.#followers) follower.close();
    await this.looked();
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

/** What a look found. `mark` is equal for equal contents, and for equal reasons why there are none. */
type Found = { readonly mark: string } & ({ readonly contents: readonly Buffer[] } | { readonly error: AppError });

/** One watch, and what has become of it. */
class Follower<What extends string> {
  readonly #watch: Watch<What>;
  readonly #options: WatchedFilesOptions<What>;
  /** What the last look found. */
  #seen = '';
  /** What was judged last. */
  #judged = '';
  #isRefused = false;
  #checking: Promise<void> | undefined;
  #isClosed = false;

  constructor(watch: Watch<What>, options: WatchedFilesOptions<What>) {
    this.#watch = watch;
    this.#options = options;
  }

  get what(): What {
    return this.#watch.what;
  }

  get looking(): Promise<void> {
    return this.#checking ?? Promise.resolve();
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Never overlaps: a folder on another machine that does not answer holds up its own files, and nothing else. */
  look(): void {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined;
    });
  }

  async checkNow(): Promise<Verdict> {
    await this.looking;
    const found = await this.#find();
    if (found === undefined) return 'unchanged';
    this.#seen = found.mark;
    // Whoever asks is told why something is refused, also when the log has said it before.
    this.#judged = '';
    return this.#judge(found);
  }

  async #find(): Promise<Found | undefined> {
    const found = await find(this.#watch.files, this.#watch.code);
    return this.#isClosed ? undefined : found;
  }

  async #look(): Promise<void> {
    const found = await this.#find();
    if (found === undefined) return;
    const isAtRest = found.mark === this.#seen;
    this.#seen = found.mark;
    // What was refused is tried again, because time alone may mend it: a certificate may begin later.
    if (isAtRest && (found.mark !== this.#judged || this.#isRefused)) this.#judge(found);
  }

  #judge(found: Found): Verdict {
    const { what, files, take } = this.#watch;
    const { log, onJudged } = this.#options;
    const isNews = found.mark !== this.#judged;
    this.#judged = found.mark;
    let isChanged = false;
    try {
      if ('error' in found) throw found.error;
      isChanged = take(found.contents);
      if (isChanged) log.info({ event: 'files_taken', what, files }, 'files have changed and are in use');
      else if (this.#isRefused) log.info({ event: 'files_taken', what, files }, 'the files are again what is in use');
      this.#isRefused = false;
    } catch (thrown) {
      const error = toAppError(thrown, 'internal', 'the changed files could not be put to use');
      this.#isRefused = true;
      // Whoever has just changed a file looks for the reason here, so it stands in the message itself.
      const text = `the changed files are not used, what was there before goes on: ${error.message}`;
      if (isNews) log.error({ event: 'files_refused', what, files, err: error }, text);
    }
    onJudged?.(what, !this.#isRefused);
    if (this.#isRefused) return 'refused';
    return isChanged ? 'taken' : 'unchanged';
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
