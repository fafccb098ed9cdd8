// What the person on the phone will do, step by step: audio and keys, ready to be sent.
import type { JsonObject } from '../../base/json.ts';
import type { Key } from './key.ts';
import type { Reply } from './turn.ts';

/**
 * One step. It begins when it is the caller's turn (the prompts are over and the server listens). Or it interrupts the prompts
 * after the step before: `interruptMs` after they began, or about when they come to `interruptWord`.
 */
export type Step = (
  | {
      readonly kind: 'say';
      /** What the timeline shows. */
      readonly label: string;
      /** The words that are said, where they are known. */
      readonly words?: string;
      /** µ-law, 8 kHz, no header. */
      readonly mulaw: Uint8Array;
    }
  | { readonly kind: 'press'; readonly keys: readonly Key[] }
  /** Stay silent for `waitMs`, or until `over` aborts. */
  | { readonly kind: 'wait'; readonly waitMs: number; readonly over?: AbortSignal }
  /** Stay silent until the server replies to the silence (G-70). */
  | { readonly kind: 'stay_silent' }
  /** The flow sends an event of its own (G-72). */
  | { readonly kind: 'send_event'; readonly name: string; readonly parameters: JsonObject }
  | { readonly kind: 'hang_up' }
) & { readonly interruptMs?: number; readonly interruptWord?: string };

/** The call so far, from which the next step is chosen. */
export interface CallSoFar {
  /** All replies in order; the last one is complete. */
  readonly replies: readonly Reply[];
  /** The steps that began, in order. */
  readonly steps: readonly StepMark[];
  /** Whether the last reply still plays and may be interrupted. */
  readonly mayInterrupt: boolean;
}

/**
 * Chooses the next step. Called once per step, as soon as the server has sent the whole reply. Must not reject. A step with
 * `interruptMs` interrupts this reply if the reply still plays then; every other step begins when it is the caller's turn.
 */
export type Improvise = (call: CallSoFar) => Promise<Step>;

/** The beginning of a step, and the RPC that answers the step. */
export interface StepMark {
  /** ms since the call began. */
  readonly atMs: number;
  /** The first RPC whose reply answers this step, counted from 1. All RPCs before the next step's first one belong to this step. */
  readonly fromTurn: number;
  /** Whether a prompt was playing when the step began. */
  readonly isInterruption: boolean;
  /** False when the platform dropped a key of the step, or all of its speech (G-51). */
  readonly isTaken: boolean;
  /** Set when the step missed its word: no prompt has the word (`never`), or the text of the prompts came too late (`unknown`). */
  readonly missedWord?: 'never' | 'unknown';
}

/** Pause between two keys of one step, ms. */
export const KEY_INTERVAL_MS = 200;
