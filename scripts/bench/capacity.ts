// How many calls one core takes: CPU per call at a few loads, the number of calls that follows from it, and a run at that number that
// proves it or not.
import { setTimeout as pause } from 'node:timers/promises';
import type { RedisServer } from '../../test/support/redis-server.ts';
import { FRAME_MS } from '../../src/speech/audio-format.ts';
import { progress } from '../command-line.ts';
import { percentile, rounded } from './figures.ts';
import { sharing, type Stage, type Variant } from './capacity-variants.ts';
import { described, measureRun, type Run, type RunPlan } from './paced-rounds.ts';
import type { Ground } from './servers.ts';

/** What counts as a load that one core takes. */
export const BOUNDS = {
  /** Part of the core that calls may take: the rest is for bursts, full collections and calls of a server that goes. */
  corePart: 0.7,
  /** 99th percentiles, ms. From the moment a call should have begun to its first response; delay of the event loop. */
  firstResponseMs: 150,
  loopDelayMs: 100,
} as const;

/** How thorough it is. */
export interface CapacityPlan extends RunPlan {
  readonly warmUpMs: number;
  /** Calls at once of the runs that the number is derived from; the last one decides. */
  readonly loads: readonly number[];
  readonly proofMs: number;
  /** Most runs that try to prove it. */
  readonly proofs: number;
  /** Most calls of the run that proves it. */
  readonly mostCalls: number;
}

/** One run. */
export interface LoadFigures {
  readonly calls: number;
  /** CPU of all servers for a second of one call, ms. */
  readonly msPerCall: number;
  readonly corePart: number;
  /** Over gRPC only. */
  readonly firstResponseMs: number | null;
  readonly loopDelayMs: number;
  /** Why it does not count; null when it does. */
  readonly isVoid: string | null;
}

/** What one variant came to. */
export interface VariantFigures {
  readonly name: string;
  readonly title: string;
  readonly loads: readonly LoadFigures[];
  /** Heap and what it holds outside, beyond an empty server, KB. */
  readonly kbPerCall: number;
  /** Resident memory under the last of the loads, all servers together, MB. */
  readonly residentMb: number;
  /** Calls that follow from the CPU of the last of the loads. */
  readonly derived: number;
  /** Runs at that number, or at fewer when one did not hold. */
  readonly proofs: readonly LoadFigures[];
  /** Of the run that held within the bounds; null when none did. */
  readonly callsPerCore: number | null;
}

/** How cost grows with the number of processes that share the calls. */
export interface ProcessFigures extends LoadFigures {
  readonly processes: number;
  readonly cores: number;
  readonly residentMb: number;
  /** That Redis runs, and its CPU for one. No call begins or ends meanwhile. */
  readonly scriptsPerSecond: number;
  readonly usPerScript: number;
}

/** A proof that fails is repeated with so many calls. */
const STEP_DOWN = 0.85;

/** Starts the servers of a variant, measures, and stops them. */
export async function measureVariant({ name, title, start }: Variant, ground: Ground, plan: CapacityPlan): Promise<VariantFigures> {
  const stage = await start(ground);
  try {
    const empty = await warmedUp(stage, ground, plan);
    const loads: LoadFigures[] = [];
    let full = empty;
    for (const calls of plan.loads)
      loads.push(await measureLoad(calls, stage, ground, plan, { over: async () => (full = await memoryOf(stage)) }));
    const last = loads.at(-1);
    if (last === undefined) throw new RangeError('a plan has a load');
    const derived = Math.floor((BOUNDS.corePart * 1000) / last.msPerCall / 10) * 10;
    const proofs: LoadFigures[] = [];
    for (let calls = Math.min(derived, plan.mostCalls); proofs.length < plan.proofs; calls = Math.floor((calls * STEP_DOWN) / 10) * 10) {
      proofs.push(await measureLoad(calls, stage, ground, { ...plan, windowMs: plan.proofMs }));
      if (proofs.some(isWithinBounds)) break;
    }
    return {
      ...{ name, title, loads },
      kbPerCall: Math.round((full.heldBytes - empty.heldBytes) / last.calls / 1024),
      residentMb: Math.round(full.residentBytes / 2 ** 20),
      ...{ derived, proofs },
      callsPerCore: proofs.find(isWithinBounds)?.calls ?? null,
    };
  } finally {
    await stage.close();
  }
}

/** The same number of calls, kept together, on so many servers. */
export async function measureProcesses(
  cores: readonly (number | undefined)[],
  ground: Ground,
  plan: CapacityPlan,
): Promise<ProcessFigures> {
  const stage = await sharing(ground, cores);
  const { redis } = stage;
  try {
    await warmedUp(stage, ground, plan);
    const uses: RedisUse[] = [];
    const memory: Memory[] = [];
    const load = await measureLoad(
      plan.loads.at(-1) ?? 0,
      stage,
      ground,
      { ...plan, probesPerSecond: 0 },
      {
        begun: async () => uses.push(await redisUse(redis)),
        over: async () => {
          uses.push(await redisUse(redis));
          memory.push(await memoryOf(stage));
        },
      },
    );
    const [before, after] = uses.slice(-2);
    const scripts = (after?.scripts ?? 0) - (before?.scripts ?? 0);
    const cpuS = (after?.cpuS ?? 0) - (before?.cpuS ?? 0);
    return {
      ...load,
      ...{ processes: cores.length, cores: new Set(cores).size },
      residentMb: Math.round((memory.at(-1)?.residentBytes ?? 0) / 2 ** 20),
      scriptsPerSecond: Math.round((scripts * 1000) / plan.windowMs),
      usPerScript: Math.round((cpuS * 1e6) / Math.max(1, scripts)),
    };
  } finally {
    await stage.close();
  }
}

async function warmedUp(stage: Stage, ground: Ground, plan: CapacityPlan) {
  if (plan.warmUpMs > 0) await measureRun(plan.loads.at(-1) ?? 0, stage.target, ground, { ...plan, windowMs: plan.warmUpMs });
  return memoryOf(stage);
}

async function measureLoad(
  calls: number,
  { target }: Stage,
  ground: Ground,
  plan: RunPlan,
  during: Parameters<typeof measureRun>[4] = {},
): Promise<LoadFigures> {
  const measured = async (): Promise<Run> => {
    const run = await measureRun(calls, target, ground, plan, during);
    progress(`  ${String(calls)} calls: ${described(run)}`);
    return run;
  };
  const run = await measured();
  // Once more: something else may have run on this machine.
  return figuresOf(calls, run.isVoid === undefined ? run : await measured());
}

function figuresOf(calls: number, { cpuPerFrameUs, serverCpuPart, loopDelayMs, load, isVoid, isSaturated }: Run): LoadFigures {
  return {
    calls,
    msPerCall: Number((cpuPerFrameUs / FRAME_MS).toFixed(3)),
    corePart: Number(serverCpuPart.toFixed(2)),
    firstResponseMs: rounded(percentile(load.firstResponseMs, 0.99), 0),
    loopDelayMs: Math.round(loopDelayMs),
    isVoid: isVoid ?? (isSaturated ? 'the server took less than the callers sent' : null),
  };
}

function isWithinBounds({ isVoid, firstResponseMs, loopDelayMs }: LoadFigures): boolean {
  return isVoid === null && (firstResponseMs ?? 0) <= BOUNDS.firstResponseMs && loopDelayMs <= BOUNDS.loopDelayMs;
}

interface Memory {
  /** Heap and what it holds outside. */
  readonly heldBytes: number;
  readonly residentBytes: number;
}

async function memoryOf({ target }: Stage): Promise<Memory> {
  // What is still being closed is not held.
  await pause(500);
  const all = await Promise.all([target, ...(target.beside ?? [])].map(({ process }) => process.ask('memory')));
  return {
    heldBytes: all.reduce((sum, { heapUsed, external }) => sum + heapUsed + external, 0),
    residentBytes: all.reduce((sum, { rss }) => sum + rss, 0),
  };
}

interface RedisUse {
  readonly scripts: number;
  readonly cpuS: number;
}

async function redisUse(redis: RedisServer): Promise<RedisUse> {
  const [commands, cpu] = [await redis.ask('INFO', 'commandstats'), await redis.ask('INFO', 'cpu')];
  const number = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.groups?.['value'] ?? 0);
  return {
    scripts: number(commands, /cmdstat_evalsha:calls=(?<value>\d+)/u),
    cpuS: number(cpu, /used_cpu_sys:(?<value>[\d.]+)/u) + number(cpu, /used_cpu_user:(?<value>[\d.]+)/u),
  };
}
