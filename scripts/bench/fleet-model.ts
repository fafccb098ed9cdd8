// A fleet on paper, from what calls cost on one core: how many calls so many servers hold, what they ask of Redis, and what an autoscaler
// makes of a day and of a rush. The same seed gives the same figures. Knows nothing of how costs were measured.
import { BEAT_MS } from '../../src/cluster/instances.ts';
import { arrivalsOf, type LoadPhase } from '../../src/fake-platform/load/arrivals.ts';
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import { Autoscaler, callsPerServer, SHIPPED } from './autoscaler.ts';

/** What a call costs. */
export interface CallCosts {
  /** CPU for a second of a call at its home, ms. */
  readonly homeMs: number;
  /** And what forwarding all of its turns adds, on both servers together; 0 or less where it is too little to be measured. */
  readonly forwardedMs: number;
  readonly scriptsPerSecond: number;
  readonly usPerScript: number;
}

/** A fleet under the load that its cores take. */
export function steadyFleet(servers: number, forwardedShare: number, corePart: number, costs: CallCosts) {
  const calls = Math.floor((servers * corePart * 1000) / (costs.homeMs + forwardedShare * costs.forwardedMs));
  // Each server beats and reads its inbox.
  const scriptsPerSecond = Math.round(calls * costs.scriptsPerSecond + (servers * 2000) / BEAT_MS);
  return { servers, calls, scriptsPerSecond, redisPart: (scriptsPerSecond * costs.usPerScript) / 1e6 };
}

/** Mean length of a call, s. */
const CALL_S = 180;

/** What callers do, and how servers answer to it. */
export interface FleetPlan {
  readonly phases: readonly LoadPhase[];
  readonly seed: number;
  readonly targetCalls: number;
  /** CPU for a second of a call, ms: for the second metric. */
  readonly msPerCall: number;
  /** At which a server turns calls away. */
  readonly fullCalls: number;
  /** From the decision until a server takes calls. */
  readonly startS: number;
  /** Time that calls get on a server that goes and cannot give them to others; undefined: it can, as over gRPC. */
  readonly drainS?: number;
}

/** What came of it. */
export interface FleetFigures {
  readonly calls: number;
  /** Shares of the calls, percent: heard a transfer because their server was full; were cut by a server that went. */
  readonly turnedAwayPercent: number;
  readonly cutPercent: number;
  readonly mostServers: number;
  /** Hours of servers over the hours that full ones would have needed. */
  readonly overProvision: number;
}

interface Server {
  readonly fromS: number;
  untilS: number;
  calls: number;
}

interface Call {
  server: Server;
}

/** Plays it, second by second. Calls come to servers at random, as a hash of their ids sends them, and last exponentially long. */
export function playFleet(plan: FleetPlan): FleetFigures {
  const draw = seededNumbers(plan.seed + 1);
  const arrivals = arrivalsOf({ kind: 'poisson', phases: plan.phases, seed: plan.seed, weights: [1] });
  /** By second. */
  const ends: Call[][] = [];
  const aim = callsPerServer(plan.targetCalls, plan.msPerCall);
  const first = Math.min(SHIPPED.most, Math.max(SHIPPED.least, Math.ceil(((plan.phases[0]?.fromPerSecond ?? 0) * CALL_S) / aim)));
  let servers = Array.from({ length: first }, (): Server => ({ fromS: 0, untilS: Infinity, calls: 0 }));
  const scaler = new Autoscaler(aim, first);
  const sum = { calls: 0, turnedAway: 0, cut: 0, callS: 0, serverS: 0, mostServers: first };
  let next = arrivals.next();
  for (let nowS = 0; next.done !== true; nowS += 1) {
    const open = servers.filter(({ fromS, untilS }) => fromS <= nowS && untilS === Infinity);
    const anyOpen = (): Server | undefined => open[Math.floor(draw() * open.length)];
    for (const { server } of ends[nowS] ?? []) server.calls -= 1;
    for (; next.done !== true && next.value.dueMs < (nowS + 1) * 1000; next = arrivals.next()) {
      sum.calls += 1;
      const server = anyOpen();
      if (server === undefined || server.calls >= plan.fullCalls) {
        sum.turnedAway += 1;
        continue;
      }
      server.calls += 1;
      (ends[nowS + Math.ceil(-Math.log(1 - draw()) * CALL_S)] ??= []).push({ server });
    }
    sum.cut += servers.filter(({ untilS }) => untilS <= nowS).reduce((cut, { calls }) => cut + calls, 0);
    servers = servers.filter(({ untilS }) => untilS > nowS);
    const calls = servers.reduce((all, server) => all + server.calls, 0);
    sum.callS += calls;
    sum.serverS += servers.length;
    sum.mostServers = Math.max(sum.mostServers, servers.length);
    const wanted = scaler.wanted(nowS, calls);
    const staying = servers.filter(({ untilS }) => untilS === Infinity);
    for (let more = staying.length; more < wanted; more += 1) servers.push({ fromS: nowS + plan.startS, untilS: Infinity, calls: 0 });
    // The newest go first, as a ReplicaSet has it.
    for (const leaving of staying.slice(wanted)) {
      leaving.untilS = nowS + (plan.drainS ?? 1);
      if (plan.drainS !== undefined) continue;
      const others = open.filter((server) => server !== leaving);
      for (const call of ends.slice(nowS + 1).flat()) if (call.server === leaving) moveTo(call, others[Math.floor(draw() * others.length)]);
    }
  }
  const percent = (calls: number): number => (100 * calls) / sum.calls;
  return {
    ...{ calls: sum.calls, turnedAwayPercent: percent(sum.turnedAway), cutPercent: percent(sum.cut), mostServers: sum.mostServers },
    overProvision: sum.serverS / (sum.callS / plan.fullCalls),
  };
}

function moveTo(call: Call, server: Server | undefined): void {
  if (server === undefined) return;
  call.server.calls -= 1;
  server.calls += 1;
  call.server = server;
}
