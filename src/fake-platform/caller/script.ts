// What the person on the phone will do, step by step: ready audio and keys, nothing to be prepared any more.
import type { JsonObject } from '../../base/json.ts';
import type { Key } from './key.ts';
import type { Reply } from './turn.ts';

/**
 * One step. It begins when it is the caller's turn (the prompts are over and the server listens), or in the middle of the
 * prompts that play after the step before it: `interruptMs` into them, or about when they come to `interruptWord`.
 */
export type Step = (
  | {
      readonly kind: 'say';
      /** What the timeline shows. */
      readonly label: string;
      /** What is said, where it is known. */
      readonly words?: string;
      /** µ-law, 8 kHz, no header. */
      readonly mulaw: Uint8Array;
    }
  | { readonly kind: 'press'; readonly keys: readonly Key[] }
  /** Stay silent for this long, or until the signal. */
  | { readonly kind: 'wait'; readonly waitMs: number; readonly over?: AbortSignal }
  /** Stay silent until the server says something about it (G-70). */
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
 * `interruptMs` interrupts that reply if it still plays then; every other step begins when it is the caller's turn.
 */
export type Improvise = (call: CallSoFar) => Promise<Step>;

/** The begin of a step, and the RPC that answers it. */
export interface StepMark {
  /** ms since the call began. */
  readonly atMs: number;
  /** The first RPC whose reply answers this step, counted from 1; it owns the RPCs up to the next step's first. */
  readonly fromTurn: number;
  /** Whether a prompt was playing when it began. */
  readonly isInterruption: boolean;
  /** False when the platform dropped any of its keys, or all of its speech (G-51). */
  readonly isTaken: boolean;
  /** Why it did not begin at its word: no prompt has the word, or the text of the prompts came too late. */
  readonly missedWord?: 'never' | 'unknown';
}

/** Pause between two keys of one step, ms. */
export const KEY_INTERVAL_MS = 200;
