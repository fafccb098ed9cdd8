// `npm run bench -- socket`: what a frame of caller audio over WebSocket costs the server beside a bare `ws` server that sends the
// same envelopes back. docs/performance.md says how and what came out.
import { parseArgs } from 'node:util';
import { median, rounded } from './bench/figures.ts';
import { countingRounds, measureRounds, measureRun, type RoundPlan } from './bench/paced-rounds.ts';
import { CORES, prepareGround, startParleyWithSockets, startSocketEcho } from './bench/servers.ts';

const HELP = `usage: npm run bench -- socket [options]

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

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    calls: { type: 'string' },
    seconds: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  const calls = Number(flags.calls ?? 500);
  const ground = await prepareGround();
  try {
    const ours = await startParleyWithSockets(ground, CORES.server, calls);
    const reference = await startSocketEcho(CORES.server);
    const plan: RoundPlan = {
      rounds: Number(flags.rounds ?? (flags.quick ? 1 : 5)),
      settleMs: flags.quick ? 2000 : 7000,
      windowMs: Number(flags.seconds ?? (flags.quick ? 3 : 10)) * 1000,
      probesPerSecond: 0,
      loadCore: CORES.load,
      log: (line: string) => {
        process.stderr.write(`${line}\n`);
      },
    };
    // Before the first round the code of both must be compiled as far as it ever will be.
    for (const server of [ours, reference]) await measureRun(Math.min(calls, 200), server, ground, plan);
    const rounds = await measureRounds(calls, { ours, reference }, ground, plan);
    const counting = countingRounds(rounds);
    const ratio = rounded(median(counting.map((round) => round.ratio)), 3);
    await ours.process.stop();
    await reference.process.stop();
    console.log(
      JSON.stringify({
        ok: ratio !== null && ratio <= MAX_RATIO && rounds.every(({ isVoid }) => !isVoid),
        calls,
        rounds: rounds.length,
        oursUsPerFrame: rounded(median(counting.map((round) => round.ours.cpuPerFrameUs)), 1),
        echoUsPerFrame: rounded(median(counting.map((round) => round.reference.cpuPerFrameUs)), 1),
        ratio,
      }),
    );
  } finally {
    await ground.close();
  }
}

if (flags.help) console.log(HELP);
else await main();
