// Port: the owners of calls. Every method is atomic, and safe to repeat when its answer is lost. Knows only the names
// of instances, and does not read snapshots.
import type { CallKey } from '../dialog/call.ts';

/** How long the end of a call is remembered, ms. */
export const ENDED_MS = 60_000;

/** The owner of a call and its epoch. */
export interface Ownership {
  /** Instance name: new for each start of a process, never empty. */
  readonly owner: string;
  /** From 1; increased with each new owner. */
  readonly epoch: number;
}

export interface ClaimRequest {
  readonly owner: string;
  /** Whether a new call may be created. */
  readonly mayCreate: boolean;
  /** The conversation restarts (G-28), even after its end: nothing is restored. */
  readonly beginsAnew?: boolean;
  /** The owner with this epoch is dead. Never 0; undefined: no dead owner. */
  readonly deadEpoch?: number;
  /** Takes the call from any owner. */
  readonly isForced?: boolean;
  /** When the caller was last heard, Unix time in ms. */
  readonly heardAtMs: number;
}

/** The result of a claim. */
export type Claim =
  | {
      readonly kind: 'mine';
      readonly epoch: number;
      /** The last saved snapshot. */
      readonly snapshot?: string;
      /** Earlier owners that did not release the call and may not know of the new owner. */
      readonly takenFrom?: readonly string[];
    }
  | { readonly kind: 'theirs'; readonly owner: string; readonly epoch: number }
  | { readonly kind: 'unknown' }
  /** The call ended a short while ago. */
  | { readonly kind: 'ended' };

/** The result of a lookup; `free`: the last owner has released the call. */
export type Found = Exclude<Claim, { readonly kind: 'mine' }> | { readonly kind: 'free' };

/** A save by an owner. */
export interface Saved extends Ownership {
  /** Number of the save within one epoch. */
  readonly seq: number;
  /** Undefined: the last saved snapshot stays. */
  readonly snapshot?: string;
  /** When the owner last heard the caller, Unix time in ms. */
  readonly heardAtMs: number;
  /** The owner releases the call with this save. */
  readonly isRelease?: boolean;
}

/** `old`: a newer save exists; `fenced`: the call has another owner, or none. */
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
 * One entry per call: owner, epoch, number of the last save, snapshot, and when the caller was heard. Untouched
 * entries expire. Every method throws AppError `store_unavailable` within a bounded time when the directory is
 * unavailable; its work may be done nevertheless.
 */
export interface CallDirectory {
  /**
   * none: `mine` with epoch 1 where it may be created, or `unknown` · forgotten: `mine` with the next epoch where it
   * begins anew, or `ended` · owned by the same: `mine` with the same epoch · released, forced, or the epoch is dead:
   * `mine` with the next epoch · else `theirs`.
   *
   * @throws AppError `state_unreadable` for an unreadable snapshot; the call is claimed nevertheless.
   */
  claim(call: CallKey, request: ClaimRequest): Promise<Claim>;
  /** Looks up a call without claiming it. */
  find(call: CallKey): Promise<Found>;
  /** none (lost): saved · higher epoch, or the same with another owner: `fenced` · number not newer: `old` · else saved. */
  save(call: CallKey, saved: Saved): Promise<SaveResult>;
  /** none: `mine` with epoch 1 · another owner heard the caller later or as late: `fenced` · else `mine` with the next epoch. */
  register(call: CallKey, late: LateCall): Promise<Registered>;
  /** No entry, or the same owner and epoch: replaces the entry by an end mark for a while. Otherwise no effect. */
  forget(call: CallKey, ownership: Ownership): Promise<void>;
  /** Extends the expiry of an entry. @returns false when there is none. */
  touch(call: CallKey): Promise<boolean>;
}
