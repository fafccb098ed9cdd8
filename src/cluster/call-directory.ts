// Port: who owns which call. Every method is one step that nobody comes in between, and harmless when its answer is lost and it is
// done again. Knows no instances but their names, and does not read snapshots.
import type { CallKey } from '../dialog/call.ts';

/** How long it is remembered that a call is over, ms. */
export const ENDED_MS = 60_000;

/** Which owner of a call speaks. */
export interface Ownership {
  /** Name of the instance: a new one for each start of a process, never empty. */
  readonly owner: string;
  /** From 1; higher with each new owner. */
  readonly epoch: number;
}

/** Who wants a call. */
export interface ClaimRequest {
  readonly owner: string;
  /** The call may be new. */
  readonly mayCreate: boolean;
  /** The conversation begins anew (G-28), also after its end: nothing of it is restored. */
  readonly beginsAnew?: boolean;
  /** Whoever owns the call under this epoch is dead. Left out: nobody is; never 0. */
  readonly deadEpoch?: number;
  /** Takes the call from whoever has it. */
  readonly isForced?: boolean;
  /** When the caller was heard, ms since the epoch of clocks. */
  readonly heardAtMs: number;
}

/** What became of a claim. */
export type Claim =
  | {
      readonly kind: 'mine';
      readonly epoch: number;
      /** As it was saved last. */
      readonly snapshot?: string;
      /** Who owned it before, did not release it, and was perhaps not notified: owners that wrote nothing may have notified nobody. */
      readonly takenFrom?: readonly string[];
    }
  | { readonly kind: 'theirs'; readonly owner: string; readonly epoch: number }
  | { readonly kind: 'unknown' }
  /** It was forgotten a short while ago. */
  | { readonly kind: 'ended' };

/** What is known of a call; `free`: its last owner has released it. */
export type Found = Exclude<Claim, { readonly kind: 'mine' }> | { readonly kind: 'free' };

/** One write of an owner. */
export interface Saved extends Ownership {
  /** Counts the writes of one owner under one epoch. */
  readonly seq: number;
  /** Left out: what was saved before stays. */
  readonly snapshot?: string;
  /** When the owner heard the caller last, ms since the epoch of clocks. */
  readonly heardAtMs: number;
  /** The owner gives the call away with this write. */
  readonly isRelease?: boolean;
}

/** `old`: a newer one was written; `fenced`: the call has another owner, or none. */
export type SaveResult =
  | {
      readonly kind: 'saved';
      /** Began the call anew after the directory had lost it. */
      readonly takenFrom?: readonly string[];
    }
  | { readonly kind: 'old' | 'fenced' };

/** A call that began while the directory was away. */
export type LateCall = Omit<Saved, 'epoch' | 'isRelease'>;

/** `fenced`: another owner heard the caller later, or as late. */
export type Registered =
  { readonly kind: 'mine'; readonly epoch: number; readonly takenFrom?: readonly string[] } | { readonly kind: 'fenced' };

/**
 * One entry for each call: owner, epoch, number of the last write, snapshot, and when the caller was heard. Entries that are not
 * touched end by themselves. Every method throws AppError `store_unavailable` within a bounded time when the directory is away, and may
 * have done its work all the same.
 */
export interface CallDirectory {
  /**
   * none: `mine` with epoch 1 where it may be created, or `unknown` · forgotten: `mine` with the next epoch where it begins anew, or `ended` ·
   * owned by the same: `mine` with the same epoch · released, forced, or the epoch is dead: `mine` with the next epoch · else `theirs`.
   *
   * @throws AppError `state_unreadable` for a snapshot that does not open; the call is claimed all the same.
   */
  claim(call: CallKey, request: ClaimRequest): Promise<Claim>;
  /** What a claim would find, without claiming. */
  find(call: CallKey): Promise<Found>;
  /** none (lost): saved · higher epoch, or the same with another owner: `fenced` · number not newer: `old` · else saved. */
  save(call: CallKey, saved: Saved): Promise<SaveResult>;
  /** none: `mine` with epoch 1 · another owner heard the caller later or as late: `fenced` · else `mine` with the next epoch. */
  register(call: CallKey, late: LateCall): Promise<Registered>;
  /** none, or owned by the same under the same epoch: keeps a mark instead of the call for a while, that it is over. Else nothing. */
  forget(call: CallKey, ownership: Ownership): Promise<void>;
  /** Keeps the entry of a call for longer. @returns false when there is none. */
  touch(call: CallKey): Promise<boolean>;
}
