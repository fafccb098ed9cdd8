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
/** A round that does not count is repeated this often. */
const REPETITIONS = 2;
/** Length of a turn: calls begin their first one spread over it. */
const TURN_MS = 5200;

/** Alternates which server goes first. */
export async function measureRounds(calls: number, servers: Servers, ground: Ground, plan: RoundPlan): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  let repeated = 0;
  while (rounds.length < plan.rounds) {
    const isOursFirst = rounds.length % 2 === 0;
    const first = await measureRun(calls, isOursFirst ? servers.ours : servers.reference, ground, plan);
    const second = await measureRun(calls, isOursFirst ? servers.reference : servers.ours, ground, plan);
    const [ours, reference] = isOursFirst ? [first, second] : [second, first];
    const ratio = ours.cpuPerFrameUs / reference.cpuPerFrameUs;
    plan.log(
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
      isVoid: voidness(window, target),
      isSaturated: isTooMuch(window.blocked, window.frames),
    };
  } finally {
    load.stop();
  }
}

/** A load with its connections to one server. The caller stops it. */
export async function connectedLoad(
  { port, sockets }: Target,
  { headers, organizationId }: Ground,
  connections: number,
  core: number | undefined,
): Promise<Load> {
  const load = new Load(core);
  const access = sockets === undefined ? ({ kind: 'grpc', connections, headers } as const) : ({ kind: 'websocket', ...sockets } as const);
  await load.do({ kind: 'connect', target: { port, organizationId, agentId: AGENT_ID, access } });
  return load;
}

function voidness({ cpuPart, latenessMs, failed, frames, blocked, starts }: WindowResult, target: Target): string | undefined {
  if (frames === 0) return 'no frame was sent';
  if (failed > 0) return `${String(failed)} RPCs or sockets failed`;
  if (target.sockets !== undefined && isTooMuch(blocked, frames)) return `the server did not take ${String(blocked)} frames in time`;
  if (target.isEcho !== true && starts.length === 0) return 'nobody was heard';
  if (cpuPart > MAX_CPU) return `the load took ${(cpuPart * 100).toFixed(0)} % of its core`;
  const lateMs = percentile(latenessMs, 0.99);
  return lateMs > MAX_LATENESS_MS ? `the load was late by ${lateMs.toFixed(1)} ms` : undefined;
}

function isTooMuch(blocked: number, frames: number): boolean {
  return blocked > frames / 100;
}

function described({ cpuPerFrameUs, serverCpuPart, load, isVoid, isSaturated }: Run): string {
  return [
    `${cpuPerFrameUs.toFixed(1)} µs a frame`,
    `${(serverCpuPart * 100).toFixed(0)} %`,
    ...(load.firstResponseMs.length === 0 ? [] : [`p99 ${percentile(load.firstResponseMs, 0.99).toFixed(1)} ms`]),
    ...(load.ends.length === 0 ? [] : [`turn of ${String(median(load.ends))} frames`]),
    `load ${(load.cpuPart * 100).toFixed(0)} %, late ${percentile(load.latenessMs, 0.99).toFixed(1)} ms`,
    ...(isSaturated ? ['SATURATED'] : []),
    ...(isVoid === undefined ? [] : [`VOID: ${isVoid}`]),
  ].join(', ');
}
