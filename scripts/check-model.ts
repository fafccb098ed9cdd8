// `npm run check -- model`: plays random calls against the real engine and a reference of one session, in random orders of
// everything that can happen at once, calls over several processes that die, stand still and stop, and the directory of such
// calls under partitions and outages. A call that breaks a rule is shrunk where it can be, and printed as an exchange.
import { parseArgs } from 'node:util';
import { huntDirectory } from '../test/model/directory-hunt.ts';
import { huntHomes } from '../test/model/homes-hunt.ts';
import { hunt } from '../test/model/hunt.ts';

const HELP = `Plays random calls against the engine and holds them against test/model/reference.ts.

  npm run check -- model                              100,000 calls with a seed of the moment
  npm run check -- model --runs 5000 --seed 7         the calls that seed 7 makes
  npm run check -- model --homes --runs 2000          calls over several processes; 5,000 unless told
  npm run check -- model --directory                  homes of calls while processes die, freeze, are cut off from each other
                                                     and from the directory, answers are lost and it is emptied; 5,000

A call that breaks a rule is shrunk and printed as an exchange, with the options that play it again. Progress is on
stderr; the last line is JSON: {"ok", "interleavings", "seconds", "seed"}. The exit code is 1 when a rule was broken.
`;

/** Calls between two lines of progress; each batch has a seed of its own, so that one can be played again alone. */
const BATCH = 1000;
const DEFAULT_RUNS = 100_000;
/** Several processes take longer. */
const DEFAULT_PROCESSES_RUNS = 5000;
/** Seeds are drawn below this number. */
const SEEDS = 1_000_000;

const { values } = parseArgs({
  options: {
    runs: { type: 'string' },
    seed: { type: 'string' },
    homes: { type: 'boolean', default: false },
    directory: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else
  process.exitCode = await check(
    wholeNumber('runs', values.runs, values.homes || values.directory ? DEFAULT_PROCESSES_RUNS : DEFAULT_RUNS),
    wholeNumber('seed', values.seed, Date.now() % SEEDS),
  );

async function check(runs: number, seed: number): Promise<number> {
  const startedMs = performance.now();
  const [hunting, option] = values.directory ? [huntDirectory, '--directory '] : values.homes ? [huntHomes, '--homes '] : [hunt, ''];
  let interleavings = 0;
  let isOk = true;
  for (let batch = 0; isOk && interleavings < runs; batch += 1) {
    const count = Math.min(BATCH, runs - interleavings);
    // Each course over the directory has a seed of its own.
    const played = await hunting(count, values.directory ? seed + interleavings : seed + batch);
    interleavings += played.interleavings;
    if (played.found !== undefined) {
      isOk = false;
      process.stderr.write(`\n${played.found.exchange.join('\n')}\n\n${played.found.wrong}\n`);
      process.stderr.write(
        `again: npm run check -- model ${option}--runs ${String(values.directory ? 1 : BATCH)} --seed ${String(played.found.seed)}\n`,
      );
    } else process.stderr.write(`${String(interleavings)} of ${String(runs)} calls, ${secondsSince(startedMs)} s\n`);
  }
  process.stdout.write(`${JSON.stringify({ ok: isOk, interleavings, seconds: Number(secondsSince(startedMs)), seed })}\n`);
  return isOk ? 0 : 1;
}

function secondsSince(startedMs: number): string {
  return ((performance.now() - startedMs) / 1000).toFixed(1);
}

function wholeNumber(name: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(given)) throw new Error(`--${name} wants a whole number, for example --${name} 5000`);
  return Number(given);
}
