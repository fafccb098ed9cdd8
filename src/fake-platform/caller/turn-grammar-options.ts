// What the turn grammar needs: its surroundings, its options, and callbacks.
import type { PlatformHabits } from './key-entry.ts';
import type { CallOutcome } from './finding.ts';
import type { ChangeRate } from './prompt-sound.ts';
import type { ReplySoundWish } from './prompt-taker.ts';
import type { DueReply, TurnBookOptions } from './turn-book.ts';

export interface TurnGrammarOptions extends TurnBookOptions {
  readonly habits: PlatformHabits;
  /** Longest wait for the answer to SESSION_END, ms. */
  readonly hangUpLimitMs: number;
  readonly changeRate?: ChangeRate | undefined;
  /** Whether playback keeps the sound that was heard. */
  readonly keepsSound: boolean;
  /** What to keep of the sound of replies. Default nothing. */
  readonly replySound?: ReplySoundWish | undefined;
  readonly onSound?: (() => void) | undefined;
  /** Called when the caller leaves or the call fails, with the replies still waited for; not when the server ended the call. */
  readonly onGivenUp?: ((due: readonly DueReply[]) => void) | undefined;
  /** Something changed; the caller may act. */
  readonly onChanged: () => void;
  /** The reply on this RPC began, or the RPC was completed without one. */
  readonly onReplied: (turn: number) => void;
  readonly onOver: (outcome: CallOutcome) => void;
}
