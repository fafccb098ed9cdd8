// `npm run check -- replay`: random calls to the bundled bots, recorded, read back and replayed. All must go as they went; with one line of
// a bot changed, exactly the turns that say it must differ.
import { changedCalls, replayCalls } from '../test/replay/replayed-calls.ts';
import { command, number, progress, seed } from './command-line.ts';

const help = `Replays random calls to the bundled bots, with the recorded answers of models and tools.

  npm run check -- replay                           10,000 calls with a seed of the moment
  npm run check -- replay --calls 500 --seed 7      the calls that seed 7 makes

A call that goes otherwise is printed with its first difference and the seed that plays it alone. What depends on a digit or a word that
a recording does not keep is counted as uncertain. Then one line of a bot is changed, and a tenth as many calls to it are replayed:
"changed" counts the turns that differ, "unexplained" those that differ without the line or do not although they say it.
Progress is on stderr; the last line is JSON: {"ok", "calls", "different", "uncertain", "changed", "unexplained", "seconds", "seed"}.
The exit code is 1 when anything is not as it must be.
`;

/** Calls between two lines of progress. */
const STEP = 500;

await command({
  help,
  options: { calls: number(10_000), seed },
  run: async ({ calls, seed: first }) => {
    const startedMs = performance.now();
    const seconds = (): number => Number(((performance.now() - startedMs) / 1000).toFixed(1));
    let [done, different, uncertain] = [0, 0, 0];
    await replayCalls({
      ...{ calls, seed: first },
      onCall: ({ seed: own, differences }) => {
        const certain = differences.filter(({ isAfterWithheld }) => isAfterWithheld !== true);
        done += 1;
        different += certain.length > 0 ? 1 : 0;
        uncertain += differences.length > certain.length ? 1 : 0;
        if (certain.length > 0) progress(`${JSON.stringify(certain[0])}\nagain: npm run check -- replay --calls 1 --seed ${String(own)}`);
        if (done % STEP === 0)
          progress(`${String(done)} of ${String(calls)} calls, ${String(different)} different, ${String(seconds())} s`);
      },
    });
    const { changed, unexplained } = await changedCalls({ calls: Math.ceil(calls / 10), seed: first });
    // A few calls may not say the line.
    const ok = different === 0 && unexplained === 0 && (changed > 0 || calls < STEP);
    return { ok, calls: done, different, uncertain, changed, unexplained, seconds: seconds(), seed: first };
  },
});
