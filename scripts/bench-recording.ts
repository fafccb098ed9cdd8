// `npm run bench -- recording`: what recording every call costs, beside the same server without it. CPU per inbound frame under paced
// calls, both servers at once on one core.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { compareProfiles } from './bench/cpu-profile.ts';
import { median, rounded } from './bench/figures.ts';
import { countingRounds, measureRounds, roundPlan, warmUp, type Run } from './bench/paced-rounds.ts';
import { prepareGround, recordingFlags, startParley } from './bench/servers.ts';
import { command, number, toggle } from './command-line.ts';

const help = `usage: npm run bench -- recording [options]

Measures the build (run \`npm run build\` first): two servers at once on one core, of which one records every call.
Progress is on stderr; the last line of stdout is JSON.

  --quick        one short round: a check of the bench, not a result
  --rounds N     rounds (default 5)
  --calls N      calls at once, half of them to each server (default 500)
  --seconds N    length of one measurement (default 20)
  --profile      no figures: CPU profiles of both, and what recording adds by function
  --help

example: npm run build && npm run bench -- recording --rounds 3`;

/** Files in the folder, and their bytes. */
async function written(folder: string): Promise<{ readonly recordings: number; readonly megabytes: number }> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).size));
  return { recordings: names.length, megabytes: Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1e6) };
}

await command({
  help,
  options: { quick: toggle, rounds: number(undefined, 1), calls: number(500, 1), seconds: number(undefined, 1), profile: toggle },
  run: async ({ quick: isQuick, profile, calls, ...given }) => {
    const plan = { ...roundPlan({ quick: isQuick, ...given }, { usualSeconds: 20 }), isAtOnce: !profile };
    const callsOfEach = Math.ceil(calls / 2);
    const ground = await prepareGround();
    const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-recordings-'));
    try {
      const ours = await startParley(ground, recordingFlags(folder));
      const reference = await startParley(ground);
      await warmUp([ours, reference], callsOfEach, ground, plan);
      if (profile) await compareProfiles(ground, { ours, reference }, { ...plan, calls: callsOfEach });
      const rounds = profile ? [] : countingRounds(await measureRounds(callsOfEach, { ours, reference }, ground, plan));
      await ours.process.stop();
      await reference.process.stop();
      if (profile) return { ...(await written(folder)), calls };
      const frameUs = (run: (round: (typeof rounds)[number]) => Run): number | null =>
        rounded(median(rounds.map((round) => run(round).cpuPerFrameUs)), 1);
      return {
        moreCpuPercent: rounded(100 * (median(rounds.map(({ ratio }) => ratio)) - 1), 1),
        cpuPerFrameUs: frameUs((round) => round.ours),
        withoutRecordingUs: frameUs((round) => round.reference),
        ratios: rounds.map(({ ratio }) => rounded(ratio, 3)),
        ...{ calls, ...(await written(folder)), isQuick },
        voidRounds: rounds.filter(({ isVoid }) => isVoid).length,
      };
    } finally {
      await ground.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
});
