// Port: the directory of calls and their owners. Every method is atomic, and may be repeated when its answer is lost. Knows only the names
// of instances, and does not interpret snapshots.
import type { CallKey } from '../dialog/call.ts';

/** How long the directory remembers that a call has ended, ms. */
export const ENDED_MS = 60_000;

/** The owner of a call and its epoch. */
export interface Ownership {
  /** Instance name: new for each start of a process; never empty. */
  readonly owner: string;
  /** Starts at 1; increases with each new owner. */
  readonly epoch: number;
}

export interface ClaimRequest {
  readonly owner: string;
  /** Whether a new call may be created. */
  readonly mayCreate: boolean;
  /** Set when the conversation restarts (G-28), even after its end: nothing is restored. */
  readonly beginsAnew?: boolean;
  /** Set when the owner with this epoch is dead: the epoch of that owner, from 1. */
  readonly deadEpoch?: number;
  /** Set to take the call from any owner, dead or alive. */
  readonly isForced?: boolean;
  /** When the caller was last heard, Unix time in ms. */
  readonly heardAtMs: number;
}

/** The result of a claim. */
export type Claim =
  | {
      readonly kind: 'mine';
      readonly epoch: number;
      /** The last saved snapshot; undefined when there is none. */
      readonly snapshot?: string;
      /** Earlier owners that did not release the call, and may not have been notified of the new owner. */
      readonly takenFrom?: readonly string[];
    }
  | { readonly kind: 'theirs'; readonly owner: string; readonly epoch: number }
  | { readonly kind: 'unknown' }
  /** The call ended less than {@link ENDED_MS} ago. */
  | { readonly kind: 'ended' };

/** The result of a lookup. `free`: the last owner has released the call. */
export type Found = Exclude<Claim, { readonly kind: 'mine' }> | { readonly kind: 'free' };

/** A save by an owner. */
export interface Saved extends Ownership {
  /** Number of the save within the epoch. */
  readonly seq: number;
  /** Undefined: the previous snapshot stays. */
  readonly snapshot?: string;
  /** When the owner last heard the caller, Unix time in ms. */
  readonly heardAtMs: number;
  /** Set when the owner releases the call with this save. */
  readonly isRelease?: boolean;
}

/** `old`: a newer save exists; `fenced`: the call has another owner, or no owner any more. */
export type SaveResult =
  | {
      readonly kind: 'saved';
      readonly takenFrom?: readonly string[];
    }
  | { readonly kind: 'old' | 'fenced' };

/** A call that began while the directory was unavailable. */
export type LateCall = Omit<Saved, 'epoch' | 'isRelease'>;

/** `fenced`: another owner heard the caller later, or at the same time. */
export type Registered =
  | { readonly kind: 'mine'; readonly epoch: number; readonly takenFrom?: readonly string[] }
  | { readonly kind: 'fenced' };

/**
 * One entry per call: owner, epoch, number of the last save, snapshot, and when the caller was last heard. Untouched entries expire. When
 * the directory is unavailable, every method throws AppError `store_unavailable` within a bounded time; the change may have been made
 * nevertheless.
 */
export interface CallDirectory {
  /**
   * By the entry of the call. None: `mine` with epoch 1 if `mayCreate`, else `unknown`. Ended: `mine` with the next epoch if `beginsAnew`,
   * else `ended`. Owned by `owner`: `mine` with the same epoch. Released, forced, or its epoch is dead: `mine` with the next epoch.
   * Otherwise `theirs`.
   *
   * @throws AppError `state_unreadable` for an unreadable snapshot; the call is claimed nevertheless.
   */
  claim(call: CallKey, request: ClaimRequest): Promise<Claim>;
  /** Looks up a call without claiming it. */
  find(call: CallKey): Promise<Found>;
  /** Entry of a higher epoch, or the same with another owner: `fenced`. Same epoch and `seq` not newer: `old`. Otherwise `saved`. */
  save(call: CallKey, saved: Saved): Promise<SaveResult>;
  /** No entry: `mine` with epoch 1. Another owner heard the caller as late or later: `fenced`. Else `mine` with the next epoch. */
  register(call: CallKey, late: LateCall): Promise<Registered>;
  /** Marks the call as ended for {@link ENDED_MS}, unless its entry has another owner or epoch. */
  forget(call: CallKey, ownership: Ownership): Promise<void>;
  /** Extends the lifetime of an entry. @returns false when there is no entry. */
  touch(call: CallKey): Promise<boolean>;
}
