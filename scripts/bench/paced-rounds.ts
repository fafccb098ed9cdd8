// CPU and latency of two servers under the same paced calls: rounds in which one runs right after the other, so that whatever
// else the machine does meets both.
import { setTimeout as pause } from 'node:timers/promises';
import { Load, type WindowResult } from './load.ts';
import { median, percentile } from './figures.ts';
import { AGENT_ID, type Ground, type Target } from './servers.ts';

/** How long the parts of one run take, and how often it is repeated. */
export interface RoundPlan {
  readonly rounds: number;
  readonly settleMs: number;
  readonly windowMs: number;
  readonly probesPerSecond: number;
  readonly loadCore: number | undefined;
  readonly log: (line: string) => void;
}

/** One server in one round. */
export interface Run {
  readonly cpuPerFrameUs: number;
  /** CPU of the server, part of one core. */
  readonly serverCpuPart: number;
  readonly load: WindowResult;
  /** Why it does not count; undefined when it does. */
  readonly isVoid: string | undefined;
  /** Flow control held back more than one frame in a hundred: the server took less than the callers sent. */
  readonly isSaturated: boolean;
}

/** Both servers in one round. */
export interface Round {
  readonly parley: Run;
  readonly passThrough: Run;
  readonly ratio: number;
  readonly isVoid: boolean;
}

/** Calls that share one connection. */
const CALLS_PER_CONNECTION = 100;
/** A load beyond these measures itself. */
const MAX_CPU = 0.85;
const MAX_LATENESS_MS = 5;
/** A round that does not count is repeated this often. */
const REPETITIONS = 2;
/** Length of a turn: calls begin their first one spread over it. */
const TURN_MS = 5200;

/** Alternates which server goes first. */
export async function measureRounds(
  calls: number,
  servers: { readonly parley: Target; readonly passThrough: Target },
  ground: Ground,
  plan: RoundPlan,
): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  let repeated = 0;
  for (let number = 1; number <= plan.rounds;) {
    const order = number % 2 === 1 ? (['parley', 'passThrough'] as const) : (['passThrough', 'parley'] as const);
    const first = await measureRun(calls, servers[order[0]], ground, plan);
    const second = await measureRun(calls, servers[order[1]], ground, plan);
    const [parley, passThrough] = order[0] === 'parley' ? [first, second] : [second, first];
    const ratio = parley.cpuPerFrameUs / passThrough.cpuPerFrameUs;
    const isVoid = parley.isVoid !== undefined || passThrough.isVoid !== undefined;
    plan.log(`${String(calls)} calls, round ${String(number)} of ${String(plan.rounds)}: ${describe(parley, passThrough, ratio)}`);
    if (isVoid && repeated < REPETITIONS) {
      repeated += 1;
      continue;
    }
    rounds.push({ parley, passThrough, ratio, isVoid });
    number += 1;
  }
  return rounds;
}

/** Puts one server under load and reads its CPU at both ends of the window. */
export async function measureRun(
  calls: number,
  target: Target,
  ground: Ground,
  plan: Pick<RoundPlan, 'settleMs' | 'windowMs' | 'probesPerSecond' | 'loadCore'>,
  during: { readonly begun?: () => Promise<unknown>; readonly over?: () => Promise<unknown> } = {},
): Promise<Run> {
  const load = await connectedLoad(target, ground, Math.ceil(calls / CALLS_PER_CONNECTION), plan.loadCore);
  try {
    await load.do({ kind: 'pace', calls, probesPerSecond: plan.probesPerSecond, turnSpreadMs: TURN_MS });
    await pause(plan.settleMs);
    await during.begun?.();
    await load.do({ kind: 'begin_window' });
    const before = await target.process.ask('cpu');
    await pause(plan.windowMs);
    const after = await target.process.ask('cpu');
    const window = await load.do({ kind: 'end_window' });
    await during.over?.();
    const cpuUs = after.user + after.system - before.user - before.system;
    await load.do({ kind: 'hang_up' });
    return {
      cpuPerFrameUs: cpuUs / window.frames,
      serverCpuPart: cpuUs / 1000 / (after.atMs - before.atMs),
      load: window,
      isVoid: voidness(window),
      isSaturated: window.blocked > window.frames / 100,
    };
  } finally {
    load.stop();
  }
}

/** A load with its connections to one server. The caller stops it. */
export async function connectedLoad(
  { port }: Target,
  { headers, organizationId }: Ground,
  connections: number,
  core: number | undefined,
): Promise<Load> {
  const load = new Load(core);
  await load.do({ kind: 'connect', port, connections, headers, organizationId, agentId: AGENT_ID });
  return load;
}

function voidness({ cpuPart, latenessMs, failed, frames }: WindowResult): string | undefined {
  if (frames === 0) return 'no frame was sent';
  if (failed > 0) return `${String(failed)} RPCs failed`;
  if (cpuPart > MAX_CPU) return `the load took ${(cpuPart * 100).toFixed(0)} % of its core`;
  const lateMs = percentile(latenessMs, 0.99);
  return lateMs > MAX_LATENESS_MS ? `the load was late by ${lateMs.toFixed(1)} ms` : undefined;
}

function describe(parley: Run, passThrough: Run, ratio: number): string {
  const side = ({ cpuPerFrameUs, serverCpuPart, load, isVoid, isSaturated }: Run): string =>
    [
      `${cpuPerFrameUs.toFixed(1)} µs a frame`,
      `${(serverCpuPart * 100).toFixed(0)} %`,
      `p99 ${percentile(load.firstResponseMs, 0.99).toFixed(1)} ms`,
      `turn of ${String(median(load.ends))} frames`,
      `load ${(load.cpuPart * 100).toFixed(0)} %, late ${percentile(load.latenessMs, 0.99).toFixed(1)} ms`,
      ...(isSaturated ? ['SATURATED'] : []),
      ...(isVoid === undefined ? [] : [`VOID: ${isVoid}`]),
    ].join(', ');
  return `ratio ${ratio.toFixed(3)}\n  parley        ${side(parley)}\n  pass-through  ${side(passThrough)}`;
}
