// Writes what has changed of the calls that live here: the newest state of each, one write at a time for each, some calls at once. What
// fails waits for the next beat that is answered. Knows no turns.
import type { Logger } from '../base/log.ts';
import { toAppError } from '../base/errors.ts';
import type { CallDirectory } from './call-directory.ts';
import type { Home } from './home.ts';
import type { Beat, Instances } from './instances.ts';

/** Most calls that are written at once; the others wait for their turn. */
const MAX_WRITES = 64;

/** With how many beats calls are written again after the directory has lost them. */
const REWRITES = 3;

/** What writes are made with. */
export interface HomeWritesOptions {
  readonly directory: CallDirectory;
  readonly instances: Pick<Instances, 'self' | 'notify'>;
  readonly log: Logger;
  /** The call has another owner. */
  readonly onFenced: (home: Home) => void;
  /** A call that leaves was written. */
  readonly onLeft: (home: Home) => void;
}

/** What is to be written of a call: all of it, or only that it still lives. */
type Want = 'write' | 'touch';

/** Bounded by the calls that live here. */
export class HomeWrites {
  readonly #options: HomeWritesOptions;
  readonly #wanted = new Map<Home, Want>();
  readonly #writing = new Map<Home, Promise<void>>();
  /** Those that failed, and wait for `retry`. */
  readonly #failed = new Set<Home>();
  /** Beats with which all calls are written again. */
  #rewrites = 0;

  constructor(options: HomeWritesOptions) {
    this.#options = options;
  }

  /** Writes the call as it is when its turn comes. */
  want(home: Home, want: Want = 'write'): void {
    if (home.isGone) return;
    if (this.#wanted.get(home) !== 'write') this.#wanted.set(home, want);
    this.#failed.delete(home);
    this.#begin(home);
  }

  /** Nothing more is written of the call. */
  drop(home: Home): void {
    this.#wanted.delete(home);
    this.#failed.delete(home);
  }

  /** A beat was answered: writes again what has to be, of all calls that live here. */
  answered({ isNew, wasAway }: Beat, homes: Iterable<Home>): void {
    // What the table has lost, the directory has, too. Others write theirs within a beat, and their notifications are lost as well:
    // written once more, a call that has another owner is fenced.
    if (isNew) this.#rewrites = REWRITES;
    // What was taken meanwhile is fenced, should nobody have been able to notify this process.
    else if (wasAway) this.#rewrites = Math.max(this.#rewrites, 1);
    if (this.#rewrites > 0) for (const home of homes) this.want(home);
    this.#rewrites = Math.max(0, this.#rewrites - 1);
    this.retry();
  }

  /** Tries again what failed. */
  retry(): void {
    this.#failed.clear();
    for (const home of this.#wanted.keys()) this.#begin(home);
  }

  /** Resolves when all that is known of the call is written, or could not be. */
  async settled(home: Home): Promise<void> {
    while (this.#writing.has(home) || (this.#wanted.has(home) && !this.#failed.has(home))) {
      await (this.#writing.get(home) ?? Promise.race(this.#writing.values()));
    }
  }

  /** Resolves when nothing is being written any more; what failed waits on. */
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
      this.#options.log.debug({ err: error }, 'a call could not be written; it is tried again');
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
    // It is only known now under which epoch it goes.
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
      // A release whose answer was lost is fenced by itself; and the call may be wanted here again.
    } else if (home.leaving === 'release') onLeft(home);
  }
}

function snapshotOf(text: string | undefined): { readonly snapshot?: string } {
  return text === undefined ? {} : { snapshot: text };
}
