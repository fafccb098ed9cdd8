// What a run needs to look at servers that are reached in one way: the checks, and how to find out whether there is a server
// at all. Shapes only.
import type { Failure } from '../lines/failure.ts';
import type { BaseLab } from './base-lab.ts';
import type { Check } from './check.ts';
import type { Slots } from './slots.ts';
import type { GivenSuspect, Reached, Suspect } from './suspect.ts';

/** The checks of one transport, and what they work with. */
export interface Suite<Lab extends BaseLab> {
  readonly checks: readonly Check<Lab>[];
  /**
   * The first look at a server.
   *
   * @param signal - ends it at once; undefined is returned then.
   */
  reach(suspect: GivenSuspect, signal: AbortSignal | undefined): Promise<Reached | Failure | undefined>;
  /** Begins one more call as the first look did. @returns why it is not answered any more. */
  missed(suspect: GivenSuspect): Promise<Failure | undefined>;
  /** What the checks of one run share. */
  open(suspect: Suspect, slots: Slots): OpenSuite<Lab>;
}

/** What the checks of one run share. `close` must be called. */
export interface OpenSuite<Lab extends BaseLab> {
  /** The surroundings of one check. */
  lab(): Lab;
  /** Gives up the calls that are still running, and places no more. */
  close(): void;
}
