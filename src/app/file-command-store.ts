// The store of the administration for a command that reads: read as it lies there, whoever writes it, and this process's alone
// only for the moment of a change. So a command that runs for an hour keeps no server from starting.
import { stat } from 'node:fs/promises';
import type { Renewing } from '../admin/kept-tokens.ts';
import type { SecretStore } from '../admin/secret-store.ts';
import { AppError } from '../base/errors.ts';
import { DurableStore, isHeldElsewhere, readStore, type DurableStoreOptions } from '../store/durable-store.ts';
import { HeldWhileNeeded } from './held-while-needed.ts';

export interface FileCommandStoreOptions extends Omit<DurableStoreOptions, 'onLost'> {
  /** What to do when somebody else holds the store and something is to be changed. */
  readonly ifHeld: string;
  /** Whether there is something to renew before there is a file: a refresh token of the settings. */
  readonly beginsWithoutFile: boolean;
}

/** A store that others may write meanwhile. Nothing is left open between two calls. */
export class FileCommandStore implements SecretStore {
  readonly #options: FileCommandStoreOptions;
  /** The store while it is ours. */
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
   * Lets a renewal happen while the store is ours: nobody else then uses up the refresh token that it begins with. Rejects
   * with AppError `store_failed` when somebody else holds the store, and asks for nothing then.
   */
  readonly renewing: Renewing = async (renewal) => {
    // A mistyped path is no reason to make a folder there.
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

  /** @throws AppError `store_failed`, with the given words when somebody else holds the store. */
  async #alone<T>(work: (store: DurableStore) => Promise<T>, heldText: string): Promise<T> {
    try {
      return await this.#ours.use(work);
    } catch (thrown) {
      if (!isHeldElsewhere(thrown)) throw thrown;
      throw new AppError('store_failed', heldText, { details: { file: this.#options.file }, cause: thrown });
    }
  }

  /** As the file has them, which is opened anew whenever it has become another file, as each change makes it. */
  async #entries(): Promise<ReadonlyMap<string, string>> {
    const mark = await markOf(this.#options.file);
    // Marked before it is read: a change between the two is read twice, and never missed.
    if (this.#last?.mark !== mark) this.#last = { mark, entries: await readStore(this.#options) };
    return this.#last.entries;
  }
}

/** Which file stands there; empty for none. */
async function markOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return [ino, mtimeMs, size].join('/');
  } catch {
    // What keeps it from being read, the reader says.
    return '';
  }
}
