// Saves the changed calls of this process: of each call the newest snapshot, one write at a time, and several calls concurrently. Failed
// writes wait until the next beat is answered. Knows no turns.
import type { Logger } from '../base/log.ts';
import { toAppError } from '../base/errors.ts';
import type { CallDirectory } from './call-directory.ts';
import type { Home } from './home.ts';
import type { Beat, Instances } from './instances.ts';

/** Most concurrent writes. */
const MAX_WRITES = 64;

/** Number of beats on which all calls are saved again after the directory has lost its data. */
const REWRITES = 3;

export interface HomeWritesOptions {
  readonly directory: CallDirectory;
  readonly instances: Pick<Instances, 'self' | 'notify'>;
  readonly log: Logger;
  /** Called when another owner has the call. */
  readonly onFenced: (home: Home) => void;
  /** Called when the release or the end of a call was saved. */
  readonly onLeft: (home: Home) => void;
}

/** The kind of a write: the whole call, or only its expiry. */
type Want = 'write' | 'touch';

export class HomeWrites {
  readonly #options: HomeWritesOptions;
  readonly #wanted = new Map<Home, Want>();
  readonly #writing = new Map<Home, Promise<void>>();
  /** Calls whose failed writes wait for `retry`. */
  readonly #failed = new Set<Home>();
  /** Remaining beats on which all calls are saved again. */
  #rewrites = 0;

  constructor(options: HomeWritesOptions) {
    this.#options = options;
  }

  /** Queues a write. It saves the state that the call has when the write begins. */
  want(home: Home, want: Want = 'write'): void {
    if (home.isGone) return;
    if (this.#wanted.get(home) !== 'write') this.#wanted.set(home, want);
    this.#failed.delete(home);
    this.#begin(home);
  }

  /** Cancels the waiting writes of a call. */
  drop(home: Home): void {
    this.#wanted.delete(home);
    this.#failed.delete(home);
  }

  /** Called after an answered beat: repeats the necessary writes. */
  answered({ isNew, wasAway }: Beat, homes: Iterable<Home>): void {
    // When the table of instances was lost, so was the directory with its notifications. The other processes save their calls within a
    // beat; one more write then fences a call that has another owner.
    if (isNew) this.#rewrites = REWRITES;
    // One more write fences calls that other processes took without notifying this one.
    else if (wasAway) this.#rewrites = Math.max(this.#rewrites, 1);
    if (this.#rewrites > 0) for (const home of homes) this.want(home);
    this.#rewrites = Math.max(0, this.#rewrites - 1);
    this.retry();
  }

  /** Repeats failed writes. */
  retry(): void {
    this.#failed.clear();
    for (const home of this.#wanted.keys()) this.#begin(home);
  }

  /** Resolves when the writes of the call have succeeded or failed. */
  async settled(home: Home): Promise<void> {
    while (this.#writing.has(home) || (this.#wanted.has(home) && !this.#failed.has(home))) {
      await (this.#writing.get(home) ?? Promise.race(this.#writing.values()));
    }
  }

  /** Resolves when no write is running; failed writes may still wait. */
  async idle(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing.values());
  }

  #begin(home: Home): void {
    if (this.#writing.has(home) || this.#failed.has(home) || this.#writing.size >= MAX_WRITES) return;
    const want = this.#wanted.get(home);
    if (want === undefined) return;
    this.#wanted.delete(home);
    this.#writing.set(
      home,
      this.#write(home, want).finally(() => {
        this.#writing.delete(home);
        this.#next();
      }),
    );
  }

  #next(): void {
    for (const home of this.#wanted.keys()) {
      if (this.#writing.size >= MAX_WRITES) return;
      this.#begin(home);
    }
  }

  /** Never rejects. */
  async #write(home: Home, want: Want): Promise<void> {
    try {
      if (home.epoch === undefined) await this.#register(home);
      else if (want === 'touch' && home.leaving === undefined) await this.#touch(home);
      else if (home.leaving === 'forget') await this.#forget(home, home.epoch);
      else await this.#save(home, home.epoch);
    } catch (thrown) {
      const error = toAppError(thrown, 'store_unavailable');
      this.#options.log.debug({ err: error }, 'a call could not be saved; the write is retried');
      if (home.isGone) return;
      this.#wanted.set(home, 'write');
      this.#failed.add(home);
    }
  }

  async #register(home: Home): Promise<void> {
    const { directory, instances, onFenced } = this.#options;
    const { call, text, heardAtMs, leaving } = home;
    const registered = await directory.register(call, { owner: instances.self.id, seq: (home.seq += 1), heardAtMs, ...snapshotOf(text) });
    if (registered.kind === 'fenced') {
      onFenced(home);
      return;
    }
    const { epoch, takenFrom } = registered;
    home.epoch = epoch;
    for (const before of takenFrom ?? []) instances.notify(before, { call, epoch });
    // The epoch is known only now, so the release or end can only be saved now.
    if (leaving !== undefined) this.#wanted.set(home, 'write');
  }

  async #touch(home: Home): Promise<void> {
    if (!(await this.#options.directory.touch(home.call))) this.#wanted.set(home, 'write');
  }

  async #forget(home: Home, epoch: number): Promise<void> {
    const { directory, instances, onLeft } = this.#options;
    await directory.forget(home.call, { owner: instances.self.id, epoch });
    if (home.leaving === 'forget') onLeft(home);
  }

  async #save(home: Home, epoch: number): Promise<void> {
    const { directory, instances, onFenced, onLeft } = this.#options;
    const owner = instances.self.id;
    const { call, text, heardAtMs, leaving } = home;
    const isRelease = leaving === 'release';
    const result = await directory.save(call, { owner, epoch, seq: (home.seq += 1), heardAtMs, isRelease, ...snapshotOf(text) });
    if (result.kind === 'saved') for (const before of result.takenFrom ?? []) instances.notify(before, { call, epoch });
    if (!isRelease) {
      if (result.kind === 'fenced') onFenced(home);
      // `fenced` counts as left, too: when the answer to a release was lost, its repetition is fenced. The call may also have come back.
    } else if (home.leaving === 'release') onLeft(home);
  }
}

function snapshotOf(text: string | undefined): { readonly snapshot?: string } {
  return text === undefined ? {} : { snapshot: text };
}
