// `npm run check -- model`: plays random calls against the real engine and a reference of one session, in random orders of
// everything that can happen at once, calls over several processes that die, stand still and stop, and the directory of such
// calls under partitions and outages. A call that breaks a rule is shrunk where it can be, and printed as an exchange.
import { huntDirectory } from '../test/model/directory-hunt.ts';
import { huntHomes } from '../test/model/homes-hunt.ts';
import { hunt } from '../test/model/hunt.ts';
import { command, number, progress, seed, toggle } from './command-line.ts';

const help = `Plays random calls against the engine and holds them against test/model/reference.ts.

  npm run check -- model                              100,000 calls with a seed of the moment
  npm run check -- model --runs 5000 --seed 7         the calls that seed 7 makes
  npm run check -- model --homes --runs 2000          calls over several processes; 5,000 by default
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

await command({
  help,
  options: { runs: number(undefined), seed, homes: toggle, directory: toggle },
  run: async ({ seed: first, homes, directory, ...given }) => {
    const runs = given.runs ?? (homes || directory ? DEFAULT_PROCESSES_RUNS : DEFAULT_RUNS);
    const [hunting, option] = directory ? [huntDirectory, '--directory '] : homes ? [huntHomes, '--homes '] : [hunt, ''];
    const startedMs = performance.now();
    const seconds = (): number => Number(((performance.now() - startedMs) / 1000).toFixed(1));
    let [ok, interleavings] = [true, 0];
    for (let batch = 0; ok && interleavings < runs; batch += 1) {
      // Each course over the directory has a seed of its own.
      const played = await hunting(Math.min(BATCH, runs - interleavings), first + (directory ? interleavings : batch));
      interleavings += played.interleavings;
      ok = played.found === undefined;
      if (played.found === undefined) progress(`${String(interleavings)} of ${String(runs)} calls, ${String(seconds())} s`);
      else {
        progress(`\n${played.found.exchange.join('\n')}\n\n${played.found.wrong}`);
        progress(`again: npm run check -- model ${option}--runs ${String(directory ? 1 : BATCH)} --seed ${String(played.found.seed)}`);
      }
    }
    return { ok, interleavings, seconds: seconds(), seed: first };
  },
});
