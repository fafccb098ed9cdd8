// The administration's store as a file, for a command that reads. It locks the file only for the moment of a change, so that a
// command that runs for an hour keeps no server from starting.
import { stat } from 'node:fs/promises';
import type { Renewing } from '../admin/kept-tokens.ts';
import type { SecretStore } from '../admin/secret-store.ts';
import { AppError } from '../base/errors.ts';
import { DurableStore, isHeldElsewhere, readStore, type DurableStoreOptions } from '../store/durable-store.ts';
import { HeldWhileNeeded } from './held-while-needed.ts';

export interface FileCommandStoreOptions extends Omit<DurableStoreOptions, 'onLost'> {
  /** The advice in the error when another process holds the store. */
  readonly ifHeld: string;
  /** Whether a renewal is possible without a file, with the refresh token of the settings. */
  readonly beginsWithoutFile: boolean;
}

/** A store that other processes may write meanwhile. Keeps nothing open between two calls. */
export class FileCommandStore implements SecretStore {
  readonly #options: FileCommandStoreOptions;
  /** The locked store. */
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
   * Renews while the store is locked, so that nobody else uses the same refresh token. Rejects with AppError `store_failed`, and
   * requests nothing, when another process holds the store.
   */
  readonly renewing: Renewing = async (renewal) => {
    // Do not create a folder for a mistyped path.
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

  /** @throws AppError `store_failed`, with the given advice when another process holds the store. */
  async #alone<T>(work: (store: DurableStore) => Promise<T>, heldText: string): Promise<T> {
    try {
      return await this.#ours.use(work);
    } catch (thrown) {
      if (!isHeldElsewhere(thrown)) throw thrown;
      throw new AppError('store_failed', heldText, { details: { file: this.#options.file }, cause: thrown });
    }
  }

  /** The store as it is in the file now. Reads the file again when it has changed. */
  async #entries(): Promise<ReadonlyMap<string, string>> {
    const mark = await markOf(this.#options.file);
    // Take the mark before reading: a change in between leads to a second read, and none is missed.
    if (this.#last?.mark !== mark) this.#last = { mark, entries: await readStore(this.#options) };
    return this.#last.entries;
  }
}

/** Identifies the current file; empty for none. */
async function markOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return [ino, mtimeMs, size].join('/');
  } catch {
    // Reading reports the error.
    return '';
  }
}
