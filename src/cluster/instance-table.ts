// Port: the table of processes that share calls, with an inbox of notifications for each. Does not decide which are
// alive.
import type { CallKey } from '../dialog/call.ts';
import type { Peer } from '../dialog/home.ts';
import type { OrganizationUse } from '../session/others-use.ts';

/** The entry of a process. */
export interface InstanceEntry extends Peer {
  /** Whether it refuses new calls. */
  readonly isDraining: boolean;
  /** Format version of snapshots that it writes, and the newest that it reads. */
  readonly version: number;
  /** Its calls by organization; undefined: it does not say. */
  readonly use?: readonly OrganizationUse[];
}

/** An entry that was read; without an address when this process lacks its key. */
export interface ReadInstance extends InstanceEntry {
  /** Changes with each of its beats. */
  readonly counter: number;
}

/** Notification of an old owner: its call has a new one. */
export interface TakenCall {
  readonly call: CallKey;
  /** The new owner's epoch. */
  readonly epoch: number;
}

/** The result of a beat. */
export interface Reading {
  /** All instances, this one included. */
  readonly instances: readonly ReadInstance[];
  readonly taken: readonly TakenCall[];
  /** This process was not in the table: its first beat, or the table was lost. */
  readonly isNew: boolean;
}

/** Every method throws AppError `store_unavailable` within a bounded time when the table is unavailable. */
export interface InstanceTable {
  /**
   * Writes this process's entry; reads the others and the inbox.
   *
   * @param heard - notifications of the last beat; they are removed.
   */
  beat(entry: ReadInstance, heard: readonly TakenCall[]): Promise<Reading>;
  /** Puts a call into the inbox of an instance. */
  notify(id: string, taken: TakenCall): Promise<void>;
  /** Removes an instance, unless its counter has changed. */
  remove(gone: Pick<ReadInstance, 'id' | 'counter'>): Promise<void>;
}
