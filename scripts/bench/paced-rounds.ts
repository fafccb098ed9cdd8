// CPU and latency of two servers under the same paced calls: rounds in which one runs right after the other, or both at once on one core,
// so that whatever else the machine does meets both.
import { setTimeout as pause } from 'node:timers/promises';
import { Load, type WindowResult } from './load.ts';
import type { CpuReading } from './measured-process.ts';
import { median, percentile } from './figures.ts';
import { progress } from '../command-line.ts';
import { AGENT_ID, type Ground, type Target } from './servers.ts';

/** How long the parts of one run take. */
export interface RunPlan {
  readonly settleMs: number;
  readonly windowMs: number;
  /** Over gRPC. */
  readonly probesPerSecond: number;
  /** Both servers run at once: the ratio of their CPU is exact to some percent, and their latency is that of a shared core. Default false. */
  readonly isAtOnce?: boolean;
}

/** And how often it is repeated. */
export interface RoundPlan extends RunPlan {
  readonly rounds: number;
  readonly warmUpMs: number;
}

/** One server in one round. */
export interface Run {
  readonly cpuPerFrameUs: number;
  /** CPU of the server, part of one core; of all of them where several share the calls. */
  readonly serverCpuPart: number;
  /** Delay of the event loop, 99th percentile, ms; of the server that had the largest. */
  readonly loopDelayMs: number;
  readonly load: WindowResult;
  /** Why it does not count; undefined when it does. */
  readonly isVoid: string | undefined;
  /** More than one frame in a hundred was held back: the server took less than the callers sent. */
  readonly isSaturated: boolean;
}

/** The servers that are compared: ours, and one that only passes bytes on. */
export interface Servers {
  readonly ours: Target;
  readonly reference: Target;
}

/** Both servers in one round. */
export interface Round extends Readonly<Record<keyof Servers, Run>> {
  readonly ratio: number;
  readonly isVoid: boolean;
}

/** Calls that share one connection. */
const CALLS_PER_CONNECTION = 100;
/** A load beyond these measures itself. */
const MAX_CPU = 0.85;
const MAX_LATENESS_MS = 5;
/** Two loads on one core disturb each other, and both servers alike. */
const MAX_LATENESS_AT_ONCE_MS = 25;
/** A round that does not count is repeated this often. */
const REPETITIONS = 2;
/** Length of a turn: calls begin their first one spread over it. */
const TURN_MS = 5200;

/** As the command line of a benchmark says. @param isQuick - one short round: a check of the bench. */
export function roundPlan(
  {
    quick: isQuick,
    rounds,
    seconds,
  }: { readonly quick: boolean; readonly rounds: number | undefined; readonly seconds: number | undefined },
  { usualSeconds = 10, probesPerSecond = 0 }: { readonly usualSeconds?: number; readonly probesPerSecond?: number } = {},
): RoundPlan {
  return {
    rounds: rounds ?? (isQuick ? 1 : 5),
    settleMs: isQuick ? 3000 : 7000,
    windowMs: (seconds ?? (isQuick ? 3 : usualSeconds)) * 1000,
    warmUpMs: isQuick ? 3000 : 15_000,
    probesPerSecond,
  };
}

/** Before the first round the code of a server must be compiled as far as it ever will be. */
export async function warmUp(servers: readonly Target[], calls: number, ground: Ground, plan: RoundPlan): Promise<void> {
  for (const server of servers) await measureRun(Math.min(calls, 200), server, ground, { ...plan, windowMs: plan.warmUpMs });
}

/** Alternates which server goes first. */
export async function measureRounds(calls: number, servers: Servers, ground: Ground, plan: RoundPlan): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  let repeated = 0;
  while (rounds.length < plan.rounds) {
    const isOursFirst = rounds.length % 2 === 0;
    const one = (): Promise<Run> => measureRun(calls, isOursFirst ? servers.ours : servers.reference, ground, plan);
    const other = (): Promise<Run> => measureRun(calls, isOursFirst ? servers.reference : servers.ours, ground, plan);
    const [first, second] = plan.isAtOnce === true ? await Promise.all([one(), other()]) : [await one(), await other()];
    const [ours, reference] = isOursFirst ? [first, second] : [second, first];
    const ratio = ours.cpuPerFrameUs / reference.cpuPerFrameUs;
    progress(
      `${String(calls)} calls, round ${String(rounds.length + 1)} of ${String(plan.rounds)}: ratio ${ratio.toFixed(3)}\n  ours       ${described(ours)}\n  reference  ${described(reference)}`,
    );
    const isVoid = ours.isVoid !== undefined || reference.isVoid !== undefined;
    if (isVoid && repeated < REPETITIONS) repeated += 1;
    else rounds.push({ ours, reference, ratio, isVoid });
  }
  return rounds;
}

/** Rounds that count; all of them when none does, so that a check of the bench on a busy machine shows something. */
export function countingRounds(rounds: readonly Round[]): readonly Round[] {
  const valid = rounds.filter(({ isVoid }) => !isVoid);
  return valid.length === 0 ? rounds : valid;
}

/** Puts one server under load and reads its CPU at both ends of the window. */
export async function measureRun(
  calls: number,
  target: Target,
  ground: Ground,
  plan: RunPlan,
  during: { readonly begun?: () => Promise<unknown>; readonly over?: () => Promise<unknown> } = {},
): Promise<Run> {
  const load = await connectedLoad(target, ground, Math.ceil(calls / CALLS_PER_CONNECTION));
  const servers = [target, ...(target.beside ?? [])].map(({ process }) => process);
  try {
    const probesPerSecond = target.sockets === undefined ? plan.probesPerSecond : 0;
    await load.do({ kind: 'pace', calls, probesPerSecond, turnSpreadMs: TURN_MS });
    await pause(plan.settleMs);
    await during.begun?.();
    await load.do({ kind: 'begin_window' });
    await Promise.all(servers.map((server) => server.ask('loop_delay')));
    const before = await Promise.all(servers.map((server) => server.ask('cpu')));
    await pause(plan.windowMs);
    const after = await Promise.all(servers.map((server) => server.ask('cpu')));
    const loopDelaysMs = await Promise.all(servers.map((server) => server.ask('loop_delay')));
    const window = await load.do({ kind: 'end_window' });
    await during.over?.();
    const cpuUs = cpuTimeUs(after) - cpuTimeUs(before);
    await load.do({ kind: 'hang_up' });
    return {
      cpuPerFrameUs: cpuUs / window.frames,
      serverCpuPart: cpuUs / 1000 / ((after[0]?.atMs ?? 0) - (before[0]?.atMs ?? 0)),
      loopDelayMs: Math.max(...loopDelaysMs),
      load: window,
      isVoid: voidness(window, target, plan.isAtOnce === true ? MAX_LATENESS_AT_ONCE_MS : MAX_LATENESS_MS),
      isSaturated: isTooMuch(window.blocked, window.frames),
    };
  } finally {
    load.stop();
  }
}

function cpuTimeUs(readings: readonly CpuReading[]): number {
  return readings.reduce((sum, { user, system }) => sum + user + system, 0);
}

/** A load with its connections to a server and those beside it. The caller stops it. @param connections - to each. */
export async function connectedLoad(
  { port, sockets, certificatePem, forwardedShare = 0, beside = [] }: Target,
  { headers, organizationId }: Ground,
  connections: number,
): Promise<Load> {
  const load = new Load();
  const access = sockets === undefined ? ({ kind: 'grpc', connections, headers } as const) : ({ kind: 'websocket', ...sockets } as const);
  const ports = [port, ...beside.map((server) => server.port)];
  await load.do({ kind: 'connect', target: { ports, forwardedShare, certificatePem, organizationId, agentId: AGENT_ID, access } });
  return load;
}

function voidness(
  { cpuPart, latenessMs, failed, frames, blocked, starts }: WindowResult,
  target: Target,
  maxLatenessMs: number,
): string | undefined {
  if (frames === 0) return 'no frame was sent';
  if (failed > 0) return `${String(failed)} RPCs or sockets failed`;
  if (target.sockets !== undefined && isTooMuch(blocked, frames)) return `the server did not take ${String(blocked)} frames in time`;
  if (target.isEcho !== true && starts.length === 0) return 'nobody was heard';
  if (cpuPart > MAX_CPU) return `the load took ${(cpuPart * 100).toFixed(0)} % of its core`;
  const lateMs = percentile(latenessMs, 0.99);
  return lateMs > maxLatenessMs ? `the load was late by ${lateMs.toFixed(1)} ms` : undefined;
}

function isTooMuch(blocked: number, frames: number): boolean {
  return blocked > frames / 100;
}

/** A run in a line. */
export function described({ cpuPerFrameUs, serverCpuPart, loopDelayMs, load, isVoid, isSaturated }: Run): string {
  return [
    `${cpuPerFrameUs.toFixed(1)} µs a frame`,
    `${(serverCpuPart * 100).toFixed(0)} %`,
    `loop p99 ${loopDelayMs.toFixed(0)} ms`,
    ...(load.firstResponseMs.length === 0 ? [] : [`p99 ${percentile(load.firstResponseMs, 0.99).toFixed(1)} ms`]),
    ...(load.ends.length === 0 ? [] : [`turn of ${String(median(load.ends))} frames`]),
    `load ${(load.cpuPart * 100).toFixed(0)} %, late ${percentile(load.latenessMs, 0.99).toFixed(1)} ms`,
    ...(isSaturated ? ['SATURATED'] : []),
    ...(isVoid === undefined ? [] : [`VOID: ${isVoid}`]),
  ].join(', ');
}
