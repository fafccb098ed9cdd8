// The tables of docs/capacity.md, made from the kept result of `npm run bench -- capacity`: what was measured, and what a fleet makes of it.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { BEAT_MS } from '../../src/cluster/instances.ts';
import { table, withMadePart } from '../made-part.ts';
import { SHIPPED } from './autoscaler.ts';
import { BOUNDS, type LoadFigures, type ProcessFigures, type VariantFigures } from './capacity.ts';
import { playFleet, steadyFleet, type CallCosts, type FleetPlan } from './fleet-model.ts';
import type { Machine } from './machine.ts';

/** Everything that a run has found. */
export interface CapacityResult {
  readonly date: string;
  readonly commit: string;
  readonly machine: Machine;
  readonly variants: readonly VariantFigures[];
  readonly processes: readonly ProcessFigures[];
}

const PAGE = path.join(packageRoot(), 'docs', 'capacity.md');
const RESULT = path.join(import.meta.dirname, 'capacity-result.json');
/** sessions.max of deploy/kubernetes/parley.yaml. */
export const MOST_CALLS = 500;
/** Beyond it a core takes no more, whatever the limits say. */
const FULL_CORE_PART = 0.95;
const FLEETS = [1, 2, 4, 8, 16];
const TARGETS = [200, 250, SHIPPED.targetCalls, 350, 400];
/** From the decision of the autoscaler until a server takes calls, s. */
const START_S = { usual: 60, slow: 240 } as const;
/** websocket.drain_ms of deploy/kubernetes/parley.yaml. */
export const DRAIN_S = 240;
const MINUTE_MS = 60_000;
const SEED = 7;
const NOT_COUNTED = 'not counted';
/** Less than what one run differs from the next by. */
const NOT_MEASURABLE = 'not measurable';

/** The kept result. */
export async function readResult(): Promise<CapacityResult> {
  return JSON.parse(await readFile(RESULT, 'utf8')) as CapacityResult;
}

/** Keeps a result. */
export async function keepResult(result: CapacityResult): Promise<void> {
  await writeFile(RESULT, `${JSON.stringify(result, null, 2)}\n`);
}

/** The page as it stands, and with the tables of the result. */
export async function capacityPage(result: CapacityResult): Promise<{ readonly now: string; readonly made: string }> {
  const now = await readFile(PAGE, 'utf8');
  const parts = { cores: coresPart(result), processes: processesPart(result), fleet: fleetPart(result), scaling: scalingPart(result) };
  const made = Object.entries(parts).reduce((page, [part, text]) => withMadePart(page, `capacity --write: ${part}`, text), now);
  return { now, made };
}

/** Rewrites the page. */
export async function writePage(result: CapacityResult): Promise<void> {
  await writeFile(PAGE, (await capacityPage(result)).made);
}

function coresPart({ variants, date, commit, machine }: CapacityResult): string {
  const loads = variants[0]?.loads.map(({ calls }) => `CPU ms at ${String(calls)}`) ?? [];
  const head = ['Calls', ...loads, 'Calls a core', 'CPU there', 'First response', 'Loop delay', 'KB a call', 'MB resident'];
  const rows = variants.map(({ title, loads, proofs, derived, callsPerCore, kbPerCall, residentMb }) => {
    const proof = proofs.at(-1);
    const measured = proof === undefined ? ['', '', ''] : [percent(proof.corePart), ms(proof.firstResponseMs), ms(proof.loopDelayMs)];
    const byCpu = loads.at(-1)?.isVoid === null ? `${String(derived)} by CPU` : NOT_COUNTED;
    const unproved = proof === undefined || proof.isVoid !== null ? `not proved, ${byCpu}` : `fewer than ${String(proof.calls)}`;
    const calls = callsPerCore === null ? unproved : String(callsPerCore);
    return [title, ...loads.map(counted), calls, ...measured, String(kbPerCall), String(residentMb)];
  });
  const from = `Measured on ${date} at ${commit}: ${machine.cpu}, ${String(machine.cores)} cores, Node ${machine.node.slice(1)}.`;
  return `${table(head, rows)}\n\n${[from, ...unproved(variants)].join('\n')}`;
}

/** The CPU of a load, if it ran as it should. */
function counted({ msPerCall, isVoid }: LoadFigures): string {
  return isVoid === null ? msPerCall.toFixed(2) : NOT_COUNTED;
}

/** Why a number is smaller than the one that CPU alone would allow. */
function unproved(variants: readonly VariantFigures[]): readonly string[] {
  return variants.flatMap(({ title, loads, derived, proofs }) => [
    ...loads.flatMap(({ calls, isVoid }) => (isVoid === null ? [] : [`\n${title}: ${String(calls)} calls were not counted: ${isVoid}.`])),
    ...proofs.flatMap((proof) => {
      const why = reasons(proof);
      return why === ''
        ? []
        : [`\n${title}: ${String(proof.calls)} calls of ${String(derived)} that the CPU would allow did not count: ${why}.`];
    }),
  ]);
}

function reasons({ isVoid, firstResponseMs, loopDelayMs }: LoadFigures): string {
  if (isVoid !== null) return isVoid;
  if ((firstResponseMs ?? 0) > BOUNDS.firstResponseMs) return `the first response took ${String(firstResponseMs)} ms`;
  return loopDelayMs > BOUNDS.loopDelayMs ? `the event loop was late by ${String(loopDelayMs)} ms` : '';
}

function processesPart({ processes }: CapacityResult): string {
  const rows = processes.map((figures) => [
    `${String(figures.processes)} on ${figures.cores === 1 ? 'one core' : `${String(figures.cores)} cores, the load beside`}`,
    String(figures.calls),
    counted(figures),
    String(figures.residentMb),
    String(figures.scriptsPerSecond),
    String(figures.usPerScript),
  ]);
  return table(['Processes', 'Calls', 'CPU ms a call', 'MB resident, all', 'Redis scripts a second', 'Redis µs a script'], rows);
}

/** What a call costs in a cluster as deploy/kubernetes has it: TLS to the servers, a shared store. */
export function costsOf({ variants, processes }: CapacityResult): CallCosts {
  const msOf = (name: string): number => {
    const ms = variants.find((figures) => figures.name === name)?.loads.at(-1)?.msPerCall;
    if (ms === undefined) throw new Error(`the result has no ${name}`);
    return ms;
  };
  const pair = processes.find((figures) => figures.processes === 2);
  if (pair === undefined) throw new Error('the result has no two processes');
  return {
    homeMs: msOf('grpc-tls') + Math.max(0, msOf('shared') - msOf('grpc')),
    forwardedMs: msOf('forwarded-all') - msOf('shared'),
    scriptsPerSecond: Math.max(0, pair.scriptsPerSecond - (2 * 2000) / BEAT_MS) / pair.calls,
    usPerScript: pair.usPerScript,
  };
}

function fleetPart(result: CapacityResult): string {
  const costs = costsOf(result);
  const isMeasured = costs.forwardedMs > 0;
  const rows = FLEETS.map((servers) => {
    const together = steadyFleet(servers, 0, BOUNDS.corePart, costs);
    const inTurn = steadyFleet(servers, (servers - 1) / servers, BOUNDS.corePart, costs);
    return [
      String(servers),
      String(together.calls),
      isMeasured || servers === 1 ? String(inTurn.calls) : NOT_MEASURABLE,
      percent((servers - 1) / servers),
      String(together.scriptsPerSecond),
      percent(together.redisPart),
    ];
  });
  const forwarding = isMeasured
    ? `forwarding all of its turns adds ${costs.forwardedMs.toFixed(2)} ms`
    : `what forwarding adds was ${NOT_MEASURABLE}`;
  const costLine = `CPU of a call at its home ${costs.homeMs.toFixed(2)} ms a second; ${forwarding}.`;
  return `${table(['Servers', 'Calls, kept together', 'Calls, RPCs in turn', 'Turns forwarded then', 'Redis scripts a second', 'CPU of Redis'], rows)}\n\n${costLine}`;
}

function scalingPart(result: CapacityResult): string {
  const { homeMs } = costsOf(result);
  const fullCalls = Math.min(MOST_CALLS, Math.floor((FULL_CORE_PART * 1000) / homeMs));
  const played = (phases: FleetPlan['phases'], targetCalls: number, more: Partial<FleetPlan> = {}) =>
    playFleet({ phases, seed: SEED, targetCalls, msPerCall: homeMs, fullCalls, startS: START_S.usual, ...more });
  const figures = TARGETS.map((target) => {
    const slow = played(rush(2), target, { startS: START_S.slow });
    return { target, day: played(DAY, target), away: [played(rush(2), target), slow, played(rush(3), target)] };
  });
  const held = figures.findLast(({ away }) => away.slice(0, 2).every(({ turnedAwayPercent }) => turnedAwayPercent === 0))?.target;
  const rows = figures.map(({ target, day, away }) => [
    target === SHIPPED.targetCalls ? `**${String(target)}**` : String(target),
    String(day.mostServers),
    day.overProvision.toFixed(1),
    ...[day, ...away].map(({ turnedAwayPercent }) => share(turnedAwayPercent)),
  ]);
  const { up, down } = SHIPPED;
  const shipped = [
    ['calls a replica', String(SHIPPED.targetCalls)],
    ['CPU of a replica', `${String(SHIPPED.targetCpuPercent)} %`],
    ['replicas', `${String(SHIPPED.least)} to ${String(SHIPPED.most)}`],
    ['up', `${String(up.percent)} %, or ${String(up.pods)} replicas, in ${String(up.periodS)} s`],
    ['down', `${String(down.pods)} replica in ${String(down.periodS)} s, after ${String(down.windowS)} s in which no more were wanted`],
  ];
  const head = ['Target', 'Most servers', 'Hours over need', 'Turned away: day', 'twice', 'twice, slow start', 'three times'];
  const { cutPercent } = played(DAY, SHIPPED.targetCalls, { drainS: DRAIN_S });
  return [
    table(['Setting', 'Shipped'], shipped),
    `A replica is full at ${String(fullCalls)} calls:`,
    table(head, rows),
    `The largest of these targets that turns nobody away when calls double, slow start or not: **${String(held ?? 'none')}**.
If all calls came over WebSocket, replicas that go would cut ${share(cutPercent)} of those of the day.`,
  ].join('\n\n');
}

/** Calls that begin in a second, for so many at once. */
const rateOf = (calls: number): number => calls / 180;

function phase(minutes: number, from: number, to = from) {
  return { durationMs: minutes * MINUTE_MS, fromPerSecond: rateOf(from), toPerSecond: rateOf(to) };
}

/** Calls at once: a quiet night, a morning that fills up in two hours, a dip at noon, an evening. */
const DAY = [phase(420, 150), phase(120, 150, 2400), phase(120, 2400), phase(60, 2400, 1800), phase(60, 1800, 2400)].concat([
  phase(180, 2400),
  phase(240, 2400, 600),
  phase(240, 600, 150),
]);

/** Half an hour with 900 calls at once; within a minute so many times as many arrive, for half an hour. */
function rush(times: number) {
  return [phase(30, 900), phase(1, 900, 900 * times), phase(30, 900 * times)];
}

function ms(value: number | null): string {
  return value === null ? '' : `${String(value)} ms`;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
}

function share(percentage: number): string {
  if (percentage > 0 && percentage < 0.01) return '< 0.01 %';
  return percentage === 0 ? '0' : `${percentage.toFixed(percentage < 1 ? 2 : 1)} %`;
}
