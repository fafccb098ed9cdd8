// The proof that no call is lost when servers die: kills while calls run, and what their callers heard. For a test and for
// `npm run check:failover`; the same for deploys.
import { heardTable } from './callers.ts';
import { kills, restarts } from './disturbances.ts';
import type { Fleet } from './fleet.ts';
import { runTrial, type TrialResult } from './trial.ts';

/** How it is run. */
export interface FailoverPlan {
  readonly fleet: Fleet;
  readonly calls: number;
  readonly seconds: number;
  /** Between two kills or restarts, s. */
  readonly everySeconds: number;
  readonly inputs?: number;
  readonly seed: number;
  readonly onProgress?: ((line: string) => void) | undefined;
}

/** What came of kills. */
export interface FailoverResult {
  /** Every call was heard to its end, and turns were cut and answered elsewhere. */
  readonly ok: boolean;
  readonly callsLostBetweenTurns: number;
  readonly callsLostInTurn: number;
  /** Turns that a kill cut: said again, and opened again because the caller had said nothing on them. */
  readonly turnsRepeated: number;
  readonly turnsReopened: number;
  readonly kills: number;
  readonly calls: number;
  readonly answers: number;
  readonly answersSaidAgain: number;
  readonly longestWaitMs: number;
  readonly rulesBroken: number;
  /** Lines for people. */
  readonly described: readonly string[];
}

/** `kill -9` while calls run; turns that a kill cuts are said again by the platform. */
export async function failover({ fleet, seed, everySeconds, ...plan }: FailoverPlan): Promise<FailoverResult> {
  const killing = kills(fleet, everySeconds * 1000, seed);
  const { sum, stories } = await runTrial({ ...plan, fleet, seed, repeatsLostTurns: true, disturb: killing.disturb });
  const { verdicts } = sum;
  // A kill that cuts nothing proves nothing.
  const cut = sum.turnsRepeated + sum.turnsReopened;
  const lost = verdicts.lost_between_turns + verdicts.lost_in_turn;
  return {
    ok: lost + verdicts.broken_off + sum.breaches === 0 && cut > 0 && killing.count > 0 && verdicts.whole > 0,
    callsLostBetweenTurns: verdicts.lost_between_turns,
    callsLostInTurn: verdicts.lost_in_turn,
    turnsRepeated: sum.turnsRepeated,
    turnsReopened: sum.turnsReopened,
    kills: killing.count,
    calls: sum.calls,
    answers: sum.turns,
    answersSaidAgain: sum.oddities.saidAgain + sum.oddities.saidLate,
    longestWaitMs: Math.round(sum.maxWaitMs),
    rulesBroken: sum.breaches,
    described: [...heardTable(sum), ...stories],
  };
}

/** What came of restarts. */
export interface DeploysResult {
  /** Every call was heard to its end without a turn that broke or a gap, and every server ended well. */
  readonly ok: boolean;
  readonly failedTurns: number;
  readonly failedCalls: number;
  readonly gapsOver200Ms: number;
  readonly longestGapMs: number;
  readonly restarts: number;
  readonly uncleanStops: number;
  readonly longestStopMs: number;
  readonly calls: number;
  readonly answers: number;
  readonly rulesBroken: number;
  readonly callersLateMs: number;
  readonly described: readonly string[];
}

/** One restart after the other while calls run. Nobody says a turn again: one that breaks has failed. */
export async function deploys({ fleet, seed, everySeconds, ...plan }: FailoverPlan): Promise<DeploysResult> {
  const restarting = restarts(fleet, everySeconds * 1000);
  const result: TrialResult = await runTrial({ ...plan, fleet, seed, repeatsLostTurns: false, disturb: restarting.disturb });
  const { sum, stories, callersLateMs } = result;
  const { verdicts, oddities } = sum;
  const failedCalls = verdicts.lost_between_turns + verdicts.lost_in_turn;
  // Nobody dies: what was answered was to be heard at once.
  const failedTurns = sum.turnsLost + sum.turnsRepeated + oddities.apology + oddities.saidLate + oddities.noGoodbye;
  return {
    ok:
      failedCalls + failedTurns + verdicts.broken_off + sum.gapsOver200Ms + sum.breaches + restarting.unclean === 0 &&
      restarting.count > 0 &&
      verdicts.whole > 0,
    ...{ failedTurns, failedCalls },
    gapsOver200Ms: sum.gapsOver200Ms,
    longestGapMs: Math.round(sum.maxGapMs),
    restarts: restarting.count,
    uncleanStops: restarting.unclean,
    longestStopMs: Math.round(restarting.longestMs),
    calls: sum.calls,
    answers: sum.turns,
    rulesBroken: sum.breaches,
    callersLateMs: Math.round(callersLateMs),
    described: [...heardTable(sum), ...stories],
  };
}
