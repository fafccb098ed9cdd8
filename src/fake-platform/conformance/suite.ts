// What a run needs to check the servers of one transport: the transport, the checks, and the calls that they share.
import type { ProbeCall, ProbeTurn } from './call.ts';
import type { Check } from './check.ts';
import { Lab } from './lab.ts';
import type { Probe } from './probe.ts';
import type { Slots } from './slots.ts';
import type { GivenSuspect, Suspect } from './suspect.ts';
import { Survey, type Acts } from './survey.ts';

/** The checks of one transport, and what they need. */
export interface Suite<Surroundings extends Lab> {
  readonly checks: readonly Check<Surroundings>[];
  /** The transport. Whoever opens it closes it. */
  open(suspect: GivenSuspect): Probe;
  /** What the checks of one run share. */
  start(suspect: Suspect, slots: Slots): StartedSuite<Surroundings>;
}

/** What the checks of one run share. `close` must be called. */
export interface StartedSuite<Surroundings extends Lab> {
  /** The surroundings of one check. */
  lab(): Surroundings;
  /** Stops the calls that are still running, and places no more. */
  close(): void;
}

/** The suite of one transport. @param acts - what recorded calls of this transport do beside what all transports do. */
export function suiteOf<Turn extends ProbeTurn, Call extends ProbeCall<Turn>, Transport extends Probe<Turn, Call>>(
  checks: readonly Check<Lab<Turn, Call, Transport>>[],
  open: (suspect: GivenSuspect) => Transport,
  acts: Acts<Call> = {},
): Suite<Lab<Turn, Call, Transport>> {
  return {
    ...{ checks, open },
    start: (suspect, slots) => {
      const survey = new Survey<Turn, Call>(suspect, slots, () => open(suspect), acts);
      return {
        lab: () => new Lab(suspect, open(suspect), survey, slots),
        close: () => {
          survey.close();
        },
      };
    },
  };
}
