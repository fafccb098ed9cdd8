// Port: the processes that share calls, and the notifications for each. Who of them is alive is not decided here.
import type { CallKey } from '../dialog/call.ts';
import type { Peer } from '../dialog/home.ts';

/** What a process says of itself. */
export interface InstanceEntry extends Peer {
  /** It takes no new calls. */
  readonly isDraining: boolean;
  /** Newest form of snapshots that it reads, and the one that it writes. */
  readonly version: number;
}

/** A process as it was read; without an address when its entry is sealed with a key that this one lacks. */
export interface ReadInstance extends InstanceEntry {
  /** Changes with each of its beats. */
  readonly counter: number;
}

/** A call that has another owner now; its old one finds this in its inbox. */
export interface TakenCall {
  readonly call: CallKey;
  /** Of the new owner. */
  readonly epoch: number;
}

/** What one beat brings. */
export interface Reading {
  /** All of them, the one that reads included. */
  readonly instances: readonly ReadInstance[];
  readonly taken: readonly TakenCall[];
  /** The reader was not in the table before: it is its first beat, or the table was lost. */
  readonly isNew: boolean;
}

/** Every method throws AppError `store_unavailable` within a bounded time when the table is away. */
export interface InstanceTable {
  /**
   * Writes the own entry, and reads the others and the own inbox.
   *
   * @param heard - what an earlier beat has brought of the inbox; it is taken out.
   */
  beat(entry: ReadInstance, heard: readonly TakenCall[]): Promise<Reading>;
  /** Puts a call into the inbox of an instance. */
  notify(id: string, taken: TakenCall): Promise<void>;
  /** Takes an instance out, unless it has beaten since. */
  remove(gone: Pick<ReadInstance, 'id' | 'counter'>): Promise<void>;
}
