// `npm run bench -- socket`: what a frame of caller audio over WebSocket costs the server beside a bare `ws` server that sends the
// same envelopes back. docs/performance.md says how and what came out.
import { median, rounded } from './bench/figures.ts';
import { countingRounds, measureRounds, roundPlan, warmUp } from './bench/paced-rounds.ts';
import { prepareGround, startParleyWithSockets, startSocketEcho } from './bench/servers.ts';
import { command, number, toggle } from './command-line.ts';

const help = `usage: npm run bench -- socket [options]

Measures the build (run \`npm run build\` first) beside a bare \`ws\` server that sends every message back, both on one core with
plaintext and the same paced calls. Progress is on stderr; the last line of stdout is JSON, with "ok": true when the ratio is at
most 1.6 and every round counts.

  --quick           one short round: a check of the bench, not a result
  --rounds N        rounds (default 5)
  --calls N         calls at once (default 500)
  --seconds N       length of one measurement (default 10)
  --help

example: npm run build && npm run bench -- socket --calls 500 --rounds 3`;

/** Largest ratio that is wanted. */
const MAX_RATIO = 1.6;

await command({
  help,
  options: { quick: toggle, rounds: number(undefined, 1), calls: number(500, 1), seconds: number(undefined, 1) },
  run: async ({ quick, calls, ...given }) => {
    const ground = await prepareGround();
    try {
      const ours = await startParleyWithSockets(ground, calls);
      const reference = await startSocketEcho();
      const plan = roundPlan({ quick, ...given });
      await warmUp([ours, reference], calls, ground, plan);
      const rounds = await measureRounds(calls, { ours, reference }, ground, plan);
      const counting = countingRounds(rounds);
      const ratio = rounded(median(counting.map((round) => round.ratio)), 3);
      await ours.process.stop();
      await reference.process.stop();
      return {
        ok: ratio !== null && ratio <= MAX_RATIO && rounds.every(({ isVoid }) => !isVoid),
        calls,
        rounds: rounds.length,
        oursUsPerFrame: rounded(median(counting.map((round) => round.ours.cpuPerFrameUs)), 1),
        echoUsPerFrame: rounded(median(counting.map((round) => round.reference.cpuPerFrameUs)), 1),
        ratio,
      };
    } finally {
      await ground.close();
    }
  },
});
