// Input and result of one run of an evaluation, by text or by voice.
import type { OnTokens, Persona } from './persona.ts';
import type { RunFacts } from './verdict.ts';

/** A run to be done. */
export interface Run {
  /** From 1. */
  readonly number: number;
  readonly persona: Persona;
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  /** 0 to 1; the same for the same seed. */
  readonly random: () => number;
  readonly onTokens: OnTokens;
}

/** A finished run. */
export interface Talked {
  readonly facts: RunFacts;
  /** Why there is nothing to judge. */
  readonly broken?: string | undefined;
  /** Writes the recording; called when the run has not passed. @returns the file, if any. */
  readonly keep?: () => Promise<string | undefined>;
}
