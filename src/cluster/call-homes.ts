// Where each call lives, for one process: claims calls, remembers where others live, and lets go of them. Knows neither streams nor what
// the engine does with a call.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { CallKey } from '../dialog/call.ts';
import type { CallDirectory } from './call-directory.ts';
import type { Instances } from './instances.ts';
import type { Asked, Located, Peer } from './located.ts';
import type { Snapshot, Snapshots } from './snapshots.ts';

/** What homes are made with. */
export interface CallHomesOptions {
  readonly directory: CallDirectory;
  /** Stays its owner's. */
  readonly instances: Instances;
  /** Asks a peer whether a call lives there ({@link CallHomes.has}). May reject; nobody waits for long. */
  readonly probe: (peer: Peer, callId: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Largest snapshot as JSON in UTF-8, with some bytes round it. */
  readonly maxSnapshotBytes: number;
  /** How long the directory keeps an entry that is not touched, ms. */
  readonly ttlMs: number;
  /** Longest wait for the directory, and for peers, before a call is answered otherwise, ms. Default 250. */
  readonly askLimitMs?: number;
}

/** One for each process. Whoever made it closes it. */
export class CallHomes implements Snapshots {
  constructor(_options: CallHomesOptions) {}

  /**
   * Where a call lives. At once, without a promise, for a call that lives here.
   *
   * @throws AppError `store_unavailable` where nobody can say, `state_unreadable` for a snapshot that cannot be restored here; also
   *   through the promise.
   */
  locate(_call: CallKey, _asked: Asked): Located | Promise<Located> {
    throw new Error('not built yet');
  }

  /** A forwarded stream came back: the peer said "not mine", refused the connection, or broke. */
  lost(_call: CallKey, _home: Peer, _why: 'not_mine' | 'refused' | 'broken'): void {}

  /** Whether a call lives here: the answer to a probe of a peer. */
  has(_callId: string): boolean {
    return false;
  }

  /** Calls `listener` for calls that another process has taken, until the returned function is called: their sessions end without a word. */
  onTaken(_listener: (call: CallKey) => void): () => void {
    return () => undefined;
  }

  /** Claims nothing new from now on; new calls go to a live peer. */
  drain(): void {}

  save(_call: CallKey, _snapshot: Snapshot): void {}

  release(_call: CallKey, _snapshot?: Snapshot): Promise<void> {
    return Promise.resolve();
  }

  forget(_call: CallKey): void {}

  /** Writes what waits, in bounded time, and takes this process out of the table of instances. */
  async close(): Promise<void> {}
}
