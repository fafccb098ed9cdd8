// The administration's store as a file, for a command that reads. Locks the file only for the moment of a change, so that a long command
// prevents no server from starting.
import { stat } from 'node:fs/promises';
import type { Renewing } from '../admin/kept-tokens.ts';
import type { SecretStore } from '../admin/secret-store.ts';
import { AppError } from '../base/errors.ts';
import { DurableStore, isHeldElsewhere, readStore, type DurableStoreOptions } from '../store/durable-store.ts';
import { HeldWhileNeeded } from './held-while-needed.ts';

export interface FileCommandStoreOptions extends Omit<DurableStoreOptions, 'onLost'> {
  /** The advice in the error when another process holds the store. */
  readonly ifHeld: string;
  /** Whether a renewal can begin without a file, with the refresh token in the settings. */
  readonly beginsWithoutFile: boolean;
}

/** A store that other processes may write at the same time. Keeps nothing open between two calls. */
export class FileCommandStore implements SecretStore {
  readonly #options: FileCommandStoreOptions;
  /** The store while this command holds its lock. */
  readonly #ours: HeldWhileNeeded<DurableStore>;
  #last: { readonly mark: string; readonly entries: ReadonlyMap<string, string> } | undefined;

  constructor(options: FileCommandStoreOptions) {
    this.#options = options;
    this.#ours = new HeldWhileNeeded(
      () => DurableStore.open(options),
      (store) => store.close(),
    );
  }

  /**
   * Renews while the store is locked, so that no other process uses the same refresh token. Rejects with AppError `store_failed` without
   * any request when another process holds the store.
   */
  readonly renewing: Renewing = async (renewal) => {
    // Without a file there is nothing to lock, and no folder is created for a mistyped path.
    if (!this.#options.beginsWithoutFile && (await markOf(this.#options.file)) === '') return renewal();
    return this.#alone(
      renewal,
      'the kept token has ended, and the server that holds the store renews it at its next check (admin.data_sources.check_interval_s)',
    );
  };

  async get(key: string): Promise<string | undefined> {
    return (await this.#entries()).get(key);
  }

  async keys(prefix: string): Promise<readonly string[]> {
    return [...(await this.#entries()).keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  set(key: string, value: string): Promise<void> {
    return this.#change((store) => store.set(key, value));
  }

  delete(key: string): Promise<void> {
    return this.#change((store) => store.delete(key));
  }

  #change(change: (store: DurableStore) => Promise<void>): Promise<void> {
    return this.#alone(change, `a running server or another command holds the sealed store: ${this.#options.ifHeld}`);
  }

  /** @throws AppError `store_failed`; when another process holds the store, with `heldText`. */
  async #alone<T>(work: (store: DurableStore) => Promise<T>, heldText: string): Promise<T> {
    try {
      return await this.#ours.use(work);
    } catch (thrown) {
      if (!isHeldElsewhere(thrown)) throw thrown;
      throw new AppError('store_failed', heldText, { details: { file: this.#options.file }, cause: thrown });
    }
  }

  /** The current content of the file, which is read again after it has changed. */
  async #entries(): Promise<ReadonlyMap<string, string>> {
    const mark = await markOf(this.#options.file);
    // Take the mark before reading: a change in between then leads to another reading and is not missed.
    if (this.#last?.mark !== mark) this.#last = { mark, entries: await readStore(this.#options) };
    return this.#last.entries;
  }
}

/** A mark of the file's current version; empty without a file. */
async function markOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return [ino, mtimeMs, size].join('/');
  } catch {
    // Reading the file reports the error.
    return '';
  }
}
