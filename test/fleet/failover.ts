// The proof that no call is lost when servers die: kills while calls run, and what their callers heard. For a test and for
// `npm run check -- failover`; the same for deploys.
import { heardTable, type PlacedCall } from './callers.ts';
import { kills, redisAway, restarts, type Interlude } from './disturbances.ts';
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

/** Kills, and Redis that goes away. */
export interface KillsPlan extends FailoverPlan {
  /** For how long Redis is away in the middle of the run, after a short restart in its first part, s. Default: Redis stays. */
  readonly outageSeconds?: number;
}

/** How long Redis takes to restart, ms. */
const REDIS_RESTART_MS = 1500;

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
  /** Times that Redis was away: a restart and an outage. */
  readonly redisOutages: number;
  readonly outageSeconds: number;
  /** Calls that ran while Redis was away, and those of them in which something came late, broke or was an apology then. */
  readonly callersInTheOutage: number;
  readonly callersWhoHeardTheOutage: number;
  readonly calls: number;
  readonly answers: number;
  readonly answersSaidAgain: number;
  readonly longestWaitMs: number;
  readonly rulesBroken: number;
  /** Lines for people. */
  readonly described: readonly string[];
}

/** `kill -9` while calls run; turns that a kill cuts are said again by the platform. */
export async function failover({ fleet, seed, everySeconds, outageSeconds = 0, ...plan }: KillsPlan): Promise<FailoverResult> {
  const lengthMs = plan.seconds * 1000;
  const interludes =
    outageSeconds === 0 ? [] : [redisAway(fleet, lengthMs / 5, REDIS_RESTART_MS), redisAway(fleet, lengthMs * 0.4, outageSeconds * 1000)];
  const killing = kills(fleet, everySeconds * 1000, seed, interludes);
  const { sum, stories, calls } = await runTrial({ ...plan, fleet, seed, repeatsLostTurns: true, disturb: killing.disturb });
  const { verdicts } = sum;
  // A kill that cuts nothing proves nothing.
  const cut = sum.turnsRepeated + sum.turnsReopened;
  const lost = verdicts.lost_between_turns + verdicts.lost_in_turn;
  const outages = interludes.filter(({ toMs }) => toMs > 0);
  const heard = outages.map((outage) => heardIn(outage, calls));
  const inOutage = heard.reduce((all, { present }) => all + present, 0);
  const troubled = heard.flatMap((each) => each.troubled);
  const isOutageProved = outages.length === interludes.length && heard.every(({ present }) => present > 0);
  return {
    ok:
      lost + verdicts.broken_off + sum.breaches + troubled.length === 0 &&
      isOutageProved &&
      cut > 0 &&
      killing.count > 0 &&
      verdicts.whole > 0,
    callsLostBetweenTurns: verdicts.lost_between_turns,
    callsLostInTurn: verdicts.lost_in_turn,
    turnsRepeated: sum.turnsRepeated,
    turnsReopened: sum.turnsReopened,
    kills: killing.count,
    redisOutages: outages.length,
    outageSeconds,
    callersInTheOutage: inOutage,
    callersWhoHeardTheOutage: troubled.length,
    calls: sum.calls,
    answers: sum.turns,
    answersSaidAgain: sum.oddities.saidAgain + sum.oddities.saidLate,
    longestWaitMs: Math.round(sum.maxWaitMs),
    rulesBroken: sum.breaches,
    described: [...heardTable(sum), ...stories, ...troubled],
  };
}

/** Calls that ran in an outage, and a line about each that heard something of it. */
function heardIn(
  { fromMs, toMs }: Interlude,
  calls: readonly PlacedCall[],
): { readonly present: number; readonly troubled: readonly string[] } {
  const present = calls.filter(({ beganAtMs, durationMs }) => beganAtMs < toMs && beganAtMs + durationMs > fromMs);
  const troubled = present.flatMap(({ beganAtMs, troubles, story }) => {
    const then = troubles.filter((trouble) => beganAtMs + trouble.fromMs < toMs && beganAtMs + trouble.toMs > fromMs);
    if (then.length === 0) return [];
    const when = then.map(
      (trouble) => `${trouble.what} ${String(Math.round((beganAtMs + trouble.fromMs - fromMs) / 100) / 10)} s into the outage`,
    );
    return [[`heard the outage: ${when.join('; ')}`, ...story.map((line) => `    ${line}`)].join('\n')];
  });
  return { present: present.length, troubled };
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
  const failedTurns = sum.turnsLost + sum.turnsRepeated + oddities.apology + oddities.saidLate + oddities.noFarewell;
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
