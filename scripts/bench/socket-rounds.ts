// CPU of two WebSocket servers under the same paced calls: rounds in which one runs right after the other, so that whatever else
// the machine does meets both.
import path from 'node:path';
import { MeasuredProcess } from './measured-process.ts';
import type { Target } from './servers.ts';

/** What the load is told. */
export interface SocketOrder {
  readonly port: number;
  readonly path: string;
  readonly token: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly calls: number;
  readonly settleMs: number;
  readonly windowMs: number;
}

/** What the load has done in its window. */
export interface SocketWindow {
  readonly frames: number;
  /** Frames that the connection did not take in time. */
  readonly blocked: number;
  /** Reports that a caller began to speak. */
  readonly starts: number;
  /** Connections that were refused or closed. */
  readonly failed: number;
  readonly wallMs: number;
  /** CPU of the load, part of one core. */
  readonly cpuPart: number;
  /** How late its schedule was, 99th percentile. */
  readonly lateMs: number;
}

/** One server in one round. */
export interface SocketRun {
  readonly cpuPerFrameUs: number;
  readonly window: SocketWindow;
  /** Why it does not count; undefined when it does. */
  readonly isVoid: string | undefined;
}

/** Both servers in one round. */
export interface SocketRound {
  readonly ours: SocketRun;
  readonly echo: SocketRun;
  readonly ratio: number;
  readonly isVoid: boolean;
}

/** How often, and on which core the load runs. */
export interface SocketPlan {
  readonly rounds: number;
  readonly loadCore: number | undefined;
  readonly log: (line: string) => void;
}

type Servers = Readonly<Record<'ours' | 'echo', Target>>;
type Call = Omit<SocketOrder, 'port'>;

/** A load beyond these measures itself. */
const MAX_CPU = 0.85;
const MAX_LATENESS_MS = 5;
/** A round that does not count is repeated this often. */
const REPETITIONS = 2;

/** Alternates which server goes first. */
export async function measureSocketRounds(servers: Servers, call: Call, plan: SocketPlan): Promise<readonly SocketRound[]> {
  const rounds: SocketRound[] = [];
  let repeated = 0;
  while (rounds.length < plan.rounds) {
    const isOursFirst = rounds.length % 2 === 0;
    const first = await measureSocketRun(servers, isOursFirst ? 'ours' : 'echo', call, plan);
    const second = await measureSocketRun(servers, isOursFirst ? 'echo' : 'ours', call, plan);
    const [ours, echo] = isOursFirst ? [first, second] : [second, first];
    const round = {
      ours,
      echo,
      ratio: ours.cpuPerFrameUs / echo.cpuPerFrameUs,
      isVoid: ours.isVoid !== undefined || echo.isVoid !== undefined,
    };
    plan.log(
      `round ${String(rounds.length + 1)} of ${String(plan.rounds)}: ratio ${round.ratio.toFixed(3)}\n  ours  ${inWords(ours)}\n  echo  ${inWords(echo)}`,
    );
    if (round.isVoid && repeated < REPETITIONS) repeated += 1;
    else rounds.push(round);
  }
  return rounds;
}

/** Puts one server under load and reads its CPU at both ends of the window. */
export async function measureSocketRun(
  servers: Servers,
  name: keyof Servers,
  call: Call,
  plan: Pick<SocketPlan, 'loadCore'>,
): Promise<SocketRun> {
  const { port, process: server } = servers[name];
  const script = path.join(import.meta.dirname, 'socket-load.ts');
  const order: SocketOrder = { ...call, port };
  const load = new MeasuredProcess({
    args: ['--import=tsx', '--conditions=development', script, JSON.stringify(order)],
    core: plan.loadCore,
  });
  try {
    await load.line();
    const before = await server.ask('cpu');
    // Written by our own load.
    const window = (await load.line()) as SocketWindow;
    const after = await server.ask('cpu');
    await load.ended();
    const cpuUs = after.user + after.system - before.user - before.system;
    // A server that is busy answers late: what counts is the time between its two answers, in which frames came at the same pace.
    const frames = (window.frames * (after.atMs - before.atMs)) / window.wallMs;
    return { cpuPerFrameUs: cpuUs / frames, window, isVoid: voidness(window, name === 'ours') };
  } finally {
    load.kill();
  }
}

function voidness({ frames, blocked, failed, starts, cpuPart, lateMs }: SocketWindow, isListening: boolean): string | undefined {
  if (frames === 0) return 'no frame was sent';
  if (failed > 0) return `${String(failed)} calls failed`;
  if (blocked > frames / 100) return `the server did not take ${String(blocked)} frames in time`;
  if (isListening && starts === 0) return 'nobody was heard';
  if (cpuPart > MAX_CPU) return `the load took ${(cpuPart * 100).toFixed(0)} % of its core`;
  return lateMs > MAX_LATENESS_MS ? `the load was late by ${lateMs.toFixed(1)} ms` : undefined;
}

function inWords({ cpuPerFrameUs, window: { frames, starts, cpuPart, lateMs }, isVoid }: SocketRun): string {
  return [
    `${cpuPerFrameUs.toFixed(1)} µs a frame`,
    `${String(frames)} frames, speech ${String(starts)} times`,
    `load ${(cpuPart * 100).toFixed(0)} %, late ${lateMs.toFixed(1)} ms`,
    ...(isVoid === undefined ? [] : [`VOID: ${isVoid}`]),
  ].join(', ');
}
