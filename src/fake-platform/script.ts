// What the person on the phone will do, step by step: ready audio and keys, nothing to be looked up any more.
import type { Key } from './key.ts';

/**
 * One step. It begins when it is the caller's turn (the prompts are over and the server listens), or `interruptMs` into
 * the prompts that play after the step before it.
 */
export type Step = (
  | {
      readonly kind: 'say';
      /** What the timeline shows. */
      readonly label: string;
      /** µ-law, 8 kHz, no header. */
      readonly mulaw: Uint8Array;
    }
  | { readonly kind: 'press'; readonly keys: readonly Key[] }
  /** Stay silent. */
  | { readonly kind: 'wait'; readonly waitMs: number }
  | { readonly kind: 'hang_up' }
) & { readonly interruptMs?: number };

/** Pause between two keys of one step, ms: a practised thumb. */
export const KEY_INTERVAL_MS = 200;
