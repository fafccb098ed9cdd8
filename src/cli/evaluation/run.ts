// Input and result of one run of an evaluation, by text or by voice.
import type { OnTokens, Persona } from './persona.ts';
import type { RunFacts } from './verdict.ts';

/** The input of a run. */
export interface Run {
  /** Number of the run, from 1. */
  readonly number: number;
  readonly persona: Persona;
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  /** Random numbers from 0 to 1; the same numbers for the same seed. */
  readonly random: () => number;
  readonly onTokens: OnTokens;
}

/** The result of a run. */
export interface Talked {
  readonly facts: RunFacts;
  /** Set when the run cannot be judged: the reason. */
  readonly broken?: string | undefined;
  /** Writes the recording; called when the run has not passed. @returns the file; undefined: none was written. */
  readonly keep?: () => Promise<string | undefined>;
}
