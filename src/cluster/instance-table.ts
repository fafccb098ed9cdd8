// Port: the table of processes that share calls, with an inbox of notifications for each process. Does not decide which processes are
// alive.
import type { CallKey } from '../dialog/call.ts';
import type { Peer } from '../dialog/home.ts';
import type { OrganizationUse } from '../session/others-use.ts';

/** The entry of a process. */
export interface InstanceEntry extends Peer {
  /** Whether the process refuses new calls. */
  readonly isDraining: boolean;
  /** Format version of the snapshots that the process writes; it reads this version and older ones. */
  readonly version: number;
  /** What each organization uses of that process; undefined when the process does not report it. */
  readonly use?: readonly OrganizationUse[];
}

/** An entry as read from the table. Its address is empty when this process cannot open the sealed entry. */
export interface ReadInstance extends InstanceEntry {
  /** Increases with each beat of that process. */
  readonly counter: number;
}

/** Notifies an old owner that another process has taken its call. */
export interface TakenCall {
  readonly call: CallKey;
  /** The new owner's epoch. */
  readonly epoch: number;
}

/** The result of a beat. */
export interface Reading {
  /** All instances, including this one. */
  readonly instances: readonly ReadInstance[];
  readonly taken: readonly TakenCall[];
  /** True when this process was not in the table: its first beat, or the table was lost. */
  readonly isNew: boolean;
}

/** The table of instances. When it is unavailable, every method throws AppError `store_unavailable` within a bounded time. */
export interface InstanceTable {
  /**
   * Writes this process's entry; reads all entries and the inbox of this process.
   *
   * @param heard - notifications that the last beat returned; the table removes them.
   */
  beat(entry: ReadInstance, heard: readonly TakenCall[]): Promise<Reading>;
  /** Puts a notification into the inbox of an instance. */
  notify(id: string, taken: TakenCall): Promise<void>;
  /** Removes an instance from the table, unless its counter has changed. */
  remove(gone: Pick<ReadInstance, 'id' | 'counter'>): Promise<void>;
}
