// The proof that a fleet grows and shrinks without cutting a call between two turns: servers are started, stopped in good order and killed
// at random while calls run over gRPC and over WebSocket. Over gRPC a kill may cut a turn, which the platform says again; over WebSocket it
// cuts the calls that it meets, and nothing else does.
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import { Callers, heardTable, type PlacedCall } from '../../test/fleet/callers.ts';
import type { Fleet } from '../../test/fleet/fleet.ts';
import { verdictOf } from '../../test/fleet/heard-call.ts';
import { recordedPhrases } from '../../test/fleet/phrases.ts';
import type { Replica } from '../../test/fleet/replica.ts';
import { runTrial, waited } from '../../test/fleet/trial.ts';

/** Servers that take new calls, at least: one more than the load balancer may not have noticed yet. */
const LEAST_SERVING = 2;
/** So many of the calls are over WebSocket. */
const SOCKET_PART = 1 / 3;
/** Inputs of such a call: shorter than a server that stops gives it. */
const SOCKET_INPUTS = 3;
const SPREAD_MS = 4000;
/** What a kill breaks, its caller has noticed by then, ms: on a machine that does other things beside. */
const NOTICED_MS = 2000;
/** A turn that was cut and is said again has its answer by then, ms. */
const ANSWERED_MS = 6000;

/** How it is run. */
export interface ScalePlan {
  readonly fleet: Fleet;
  readonly calls: number;
  readonly events: number;
  /** Between two events, s. */
  readonly everySeconds: number;
  readonly seed: number;
  readonly onProgress: (line: string) => void;
}

/** What happened to the servers. */
interface Happened {
  starts: number;
  drains: number;
  /** When servers were killed, ms since the epoch. */
  readonly killsMs: number[];
  /** Servers that were to end in good order and did not; those left out that were killed meanwhile. */
  uncleanStops: number;
}

/** Runs it. @throws Error when a server does not start, or does not end. */
export async function scaled(plan: ScalePlan) {
  const { fleet, seed } = plan;
  const happened: Happened = { starts: 0, drains: 0, killsMs: [], uncleanStops: 0 };
  const overSocket = Math.round(plan.calls * SOCKET_PART);
  const sockets = Callers.begin({
    ...{ access: fleet.socketAccess, callers: overSocket, inputs: SOCKET_INPUTS, phrases: await recordedPhrases() },
    ...{ repeatsLostTurns: false, spreadMs: SPREAD_MS, seed: seed + 1 },
  });
  try {
    const { sum, stories, calls } = await runTrial({
      ...{ fleet, seed, calls: plan.calls - overSocket, repeatsLostTurns: true, onProgress: plan.onProgress },
      disturb: (signal) => scale(plan, happened, signal),
    });
    const socketSum = await sockets.end();
    const isByKill = (ms: number): boolean => happened.killsMs.some((killedMs) => ms >= killedMs && ms < killedMs + NOTICED_MS);
    const cutTurns = calls.flatMap((call) => cutsOf(call).map((atMs) => call.beganAtMs + atMs));
    const lost = calls.filter((call) => verdictOf(call) === 'lost_between_turns');
    const lostInTurn = lost.filter(isLostInTurn).length;
    const cutSockets = sockets.calls.filter(({ outcome }) => outcome !== 'ended');
    const socketsCutByKills = cutSockets.filter(({ beganAtMs, durationMs }) => isByKill(beganAtMs + durationMs)).length;
    const { starts, drains, killsMs, uncleanStops } = happened;
    const found = {
      cutBetweenTurns: lost.length - lostInTurn + sum.oddities.apology,
      callsLostInTurn: lostInTurn + sum.verdicts.lost_in_turn,
      turnsCutWithoutKill: cutTurns.filter((ms) => !isByKill(ms)).length,
      socketCallsCutWithoutKill: cutSockets.length - socketsCutByKills + socketSum.oddities.apology,
      brokenOff: sum.verdicts.broken_off,
      rulesBroken: sum.breaches + socketSum.breaches,
      uncleanStops,
    };
    const ok = Object.values(found).every((count) => count === 0) && Math.min(sum.verdicts.whole, socketSum.verdicts.whole) > 0;
    return {
      ok,
      ...{ events: starts + drains + killsMs.length, starts, drains, kills: killsMs.length },
      ...{ calls: sum.calls, turns: sum.turns, socketCalls: socketSum.calls, socketTurns: socketSum.turns },
      ...found,
      turnsCutByKills: cutTurns.filter(isByKill).length,
      socketCallsCutByKills: socketsCutByKills,
      longestWaitMs: Math.round(sum.maxWaitMs),
      described: ['over gRPC', ...heardTable(sum), ...stories, 'over WebSocket', ...heardTable(socketSum), ...(ok ? [] : sockets.stories)],
    };
  } finally {
    sockets.kill();
  }
}

/** Starts, stops and kills servers until there were so many events. */
async function scale({ fleet: { replicas }, ...plan }: ScalePlan, happened: Happened, signal: AbortSignal): Promise<void> {
  const random = seededNumbers(plan.seed);
  const drawn = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const serving = new Set(replicas);
  const stopping = new Set<Replica>();
  const start = async (replica: Replica): Promise<void> => {
    happened.starts += 1;
    await replica.start();
    serving.add(replica);
  };
  const drain = async (replica: Replica): Promise<void> => {
    happened.drains += 1;
    serving.delete(replica);
    stopping.add(replica);
    const exit = await replica.stop();
    stopping.delete(replica);
    if (exit.code !== 0 && exit.signal !== 'SIGKILL') happened.uncleanStops += 1;
  };
  const kill = async (replica: Replica): Promise<void> => {
    happened.killsMs.push(Date.now());
    serving.delete(replica);
    await replica.kill();
  };
  const going: Promise<void>[] = [];
  let failure: unknown;
  for (let left = plan.events; left > 0 && failure === undefined && (await waited(plan.everySeconds * 1000, signal));) {
    const spare = serving.size > LEAST_SERVING ? [...serving] : [];
    const gone = replicas.filter((replica) => !replica.isRunning);
    // As many start as go.
    const possible = [start, start, drain, kill].flatMap((act) => {
      const replica = drawn(act === start ? gone : act === drain ? spare : [...spare, ...stopping]);
      return replica === undefined ? [] : [{ act, replica }];
    });
    const event = drawn(possible);
    if (event === undefined) continue;
    left -= 1;
    plan.onProgress(`${event.act.name} of server ${String(replicas.indexOf(event.replica))}, ${String(serving.size)} took calls`);
    going.push(
      event.act(event.replica).catch((error: unknown) => {
        failure ??= error;
      }),
    );
  }
  await Promise.all(going);
  if (failure !== undefined) throw failure instanceof Error ? failure : new Error('a server did not start or end');
}

/** When turns of a call were cut, ms since it began. */
function cutsOf({ troubles }: PlacedCall): readonly number[] {
  return troubles.flatMap(({ what, fromMs }) => (what === 'repeats_turn' || what === 'reopens_turn' ? [fromMs] : []));
}

/** Whether what a caller should not have heard was the answer to a turn that was cut. */
function isLostInTurn(call: PlacedCall): boolean {
  const heard = call.troubles.filter(({ what }) => call.oddities.some((oddity) => oddity === what));
  return cutsOf(call).some((cutMs) => heard.some(({ fromMs }) => fromMs > cutMs && fromMs - cutMs < ANSWERED_MS));
}
