// Where the server's CPU goes beyond that of the pass-through: a CPU profile of each under the same calls, summed by room and by
// function, per inbound frame.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { progress } from '../command-line.ts';
import { measureRun, type RunPlan, type Servers } from './paced-rounds.ts';
import type { Ground, Target } from './servers.ts';

/** What we use of a profile in the format of Chrome's tools. Times are µs. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** µs of CPU per inbound frame, by name. */
type Costs = ReadonlyMap<string, number>;

const SHOWN_FUNCTIONS = 40;
/** Functions that cost less, µs per frame, are left out. */
const LEAST_US = 0.05;
/** Nothing, and the profiler's own work: it answers through `dispatch`. */
const LEFT_OUT = new Set(['(idle)', '(root)', 'dispatch']);

/** Writes both profiles to `coverage/` and prints the tables on stdout. */
export async function compareProfiles(ground: Ground, servers: Servers, plan: RunPlan & { readonly calls: number }): Promise<void> {
  const parley = await profile('parley', servers.ours, ground, plan);
  const passThrough = await profile('pass-through', servers.reference, ground, plan);
  console.log(`\nself time by place, µs per frame at ${String(plan.calls)} calls`);
  print(parley.byPlace, passThrough.byPlace, 100);
  console.log('\nself time by function, µs per frame, those that differ most');
  print(parley.byFunction, passThrough.byFunction, SHOWN_FUNCTIONS);
}

async function profile(name: string, target: Target, ground: Ground, plan: RunPlan & { readonly calls: number }) {
  let taken: CpuProfile | undefined;
  const run = await measureRun(plan.calls, target, ground, plan, {
    begun: () => target.process.ask('start_profile'),
    over: async () => {
      taken = (await target.process.ask('stop_profile')) as CpuProfile;
    },
  });
  if (taken === undefined) throw new Error('no profile was taken');
  const folder = path.join(packageRoot(), 'coverage');
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, `${name}.cpuprofile`);
  await writeFile(file, JSON.stringify(taken));
  progress(`${name}: ${run.cpuPerFrameUs.toFixed(1)} µs a frame while profiled; the profile is in ${path.relative(packageRoot(), file)}`);
  return summed(taken, run.load.frames);
}

function summed({ nodes, samples, timeDeltas }: CpuProfile, frames: number): { readonly byPlace: Costs; readonly byFunction: Costs } {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const byPlace = new Map<string, number>();
  const byFunction = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const frame = byId.get(id);
    if (frame === undefined || LEFT_OUT.has(frame.functionName)) continue;
    const us = (timeDeltas[index] ?? 0) / frames;
    const place = placeOf(frame.url, frame.functionName);
    add(byPlace, place, us);
    add(byFunction, `${place}  ${frame.functionName === '' ? '(anonymous)' : frame.functionName}${lineOf(frame)}`, us);
  }
  return { byPlace, byFunction };
}

function lineOf({ url, lineNumber }: { readonly url: string; readonly lineNumber: number }): string {
  return url === '' ? '' : `  ${path.basename(url)}:${String(lineNumber + 1)}`;
}

function placeOf(url: string, functionName: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  const room = /\/dist\/src\/(?<room>\w+(?:\/grpc)?)/u.exec(url)?.groups?.['room'];
  if (room !== undefined) return `our ${room}`;
  const dependency = /\/node_modules\/(?<name>(?:@[^/]+\/)?[^/]+)/u.exec(url)?.groups?.['name'];
  if (dependency !== undefined) return dependency;
  return url.startsWith('node:') ? url : url.startsWith('wasm:') ? 'WebAssembly' : 'scripts';
}

function add(costs: Map<string, number>, name: string, us: number): void {
  costs.set(name, (costs.get(name) ?? 0) + us);
}

function print(parley: Costs, passThrough: Costs, shown: number): void {
  const rows = [...new Set([...parley.keys(), ...passThrough.keys()])]
    .map((name) => ({ name, ours: parley.get(name) ?? 0, bare: passThrough.get(name) ?? 0 }))
    .filter(({ ours, bare }) => Math.max(ours, bare) >= LEAST_US)
    .sort((a, b) => b.ours - b.bare - (a.ours - a.bare));
  console.log('   more   parley   bare');
  for (const { name, ours, bare } of rows.slice(0, shown)) {
    console.log(`${(ours - bare).toFixed(2).padStart(7)}  ${ours.toFixed(2).padStart(7)} ${bare.toFixed(2).padStart(6)}  ${name}`);
  }
}
