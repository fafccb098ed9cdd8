// `npm run bench -- engine`: what the server costs beside a bare grpc-js pass-through of the same traffic. CPU per inbound frame
// under paced calls, time to the first response, memory per session. docs/performance.md says how and what came out.
import { compareProfiles } from './bench/cpu-profile.ts';
import { median, percentile, rounded } from './bench/figures.ts';
import { machine } from './bench/machine.ts';
import { measureMemory } from './bench/memory.ts';
import {
  countingRounds,
  measureRounds,
  measureRun,
  roundPlan,
  warmUp,
  type Round,
  type RoundPlan,
  type Servers,
} from './bench/paced-rounds.ts';
import { CORES } from './bench/measured-process.ts';
import { prepareGround, startParley, startPassThrough, type Ground, type Target } from './bench/servers.ts';
import { command, number, progress, text, toggle } from './command-line.ts';

const help = `usage: npm run bench -- engine [options]

Measures the build (run \`npm run build\` first) beside a bare grpc-js server that passes bytes through, both on one core
with plaintext and the same traffic. Progress is on stderr; the last line of stdout is JSON.

  --quick           one short round of each size and few calls: a check of the bench, not a result
  --rounds N        rounds of each size (default 5)
  --calls A,B       sizes (default 100,500,1000)
  --seconds N       length of one measurement (default 10)
  --only PART       cpu or memory (default both)
  --profile         no figures: CPU profiles of both servers (at 500 calls), and what the server adds by function
  --help

example: npm run build && npm run bench -- engine --calls 500 --rounds 3`;

/** Frames between the reports of a single call, so that the pass-through reports at the same moments. */
async function reportFrames(parley: Target, ground: Ground): Promise<{ readonly start: number; readonly end: number }> {
  const { load } = await measureRun(1, parley, ground, { settleMs: 1000, windowMs: 13_000, probesPerSecond: 1 });
  const [start, end] = [median(load.starts), median(load.ends)].map(Math.round);
  if (start === undefined || end === undefined || !(start < end)) throw new Error('the server did not report start and end of speech');
  progress(`speech is reported after ${String(start)} frames, its end after ${String(end)}`);
  return { start, end };
}

async function measureCpu(ground: Ground, servers: Servers, plan: RoundPlan, sizes: readonly number[]): Promise<object> {
  const bySize = new Map<number, readonly Round[]>();
  for (const calls of sizes) bySize.set(calls, await measureRounds(calls, servers, ground, plan));
  const each = <T>(figure: (rounds: readonly Round[]) => T): Record<string, T> =>
    Object.fromEntries([...bySize].map(([calls, rounds]) => [String(calls), figure(countingRounds(rounds))]));
  const of500 = countingRounds(bySize.get(500) ?? [...bySize.values()].at(-1) ?? []);
  return {
    ratioToPassThrough: each((rounds) => rounded(median(rounds.map(({ ratio }) => ratio)), 3)),
    p99FirstResponseMs: firstResponseMs(of500, 'ours', 0.99),
    p50FirstResponseMs: firstResponseMs(of500, 'ours', 0.5),
    passThroughP99FirstResponseMs: firstResponseMs(of500, 'reference', 0.99),
    ratioRange: each((rounds) => range(rounds.map(({ ratio }) => ratio))),
    p99FirstResponseMsBySize: each((rounds) => firstResponseMs(rounds, 'ours', 0.99)),
    cpuPerFrameUs: each((rounds) => rounded(median(rounds.map(({ ours: run }) => run.cpuPerFrameUs)), 1)),
    passThroughCpuPerFrameUs: each((rounds) => rounded(median(rounds.map(({ reference: run }) => run.cpuPerFrameUs)), 1)),
    serverCpuPart: each((rounds) => rounded(median(rounds.map(({ ours: run }) => run.serverCpuPart)), 2)),
    saturated: each((rounds) => rounds.some(({ ours: run }) => run.isSaturated)),
    voidRounds: [...bySize.values()].flat().filter(({ isVoid }) => isVoid).length,
  };
}

function firstResponseMs(rounds: readonly Round[], side: keyof Servers, part: number): number | null {
  return rounded(
    percentile(
      rounds.flatMap((round) => round[side].load.firstResponseMs),
      part,
    ),
    1,
  );
}

function range(values: readonly number[]): readonly (number | null)[] {
  return [rounded(Math.min(...values), 3), rounded(Math.max(...values), 3)];
}

await command({
  help,
  options: {
    quick: toggle,
    rounds: number(undefined, 1),
    calls: text,
    seconds: number(undefined, 1),
    only: text,
    profile: toggle,
  },
  run: async ({ quick: isQuick, profile, only, ...given }) => {
    const sizes = (given.calls ?? (profile ? '500' : '100,500,1000')).split(',').map(Number);
    const plan = roundPlan({ quick: isQuick, ...given }, { probesPerSecond: 25 });
    const ground = await prepareGround();
    try {
      let figures: object = {};
      if (only !== 'memory') {
        const parley = await startParley(ground);
        const passThrough = await startPassThrough(CORES.server, await reportFrames(parley, ground));
        await warmUp([parley, passThrough], 200, ground, plan);
        if (profile) await compareProfiles(ground, { ours: parley, reference: passThrough }, { ...plan, calls: sizes[0] ?? 500 });
        else figures = await measureCpu(ground, { ours: parley, reference: passThrough }, plan, sizes);
        await parley.process.stop();
        await passThrough.process.stop();
      }
      if (only !== 'cpu' && !profile) {
        const calls = isQuick ? { callsBefore: 2500, callsAfter: 5000 } : { callsBefore: 5000, callsAfter: 20_000 };
        const idleSessions = isQuick ? 500 : 2000;
        const memory = await measureMemory(ground, { ...calls, idleSessions });
        figures = { ...figures, ...memory };
      }
      return { ...figures, isQuick, machine: machine() };
    } finally {
      await ground.close();
    }
  },
});
