// `npm run check -- renewal`: does a call ever lose by a renewal? The server renews the nonces of many organizations against a
// fake platform that fails in every way, while calls keep coming in with the tokens that the platform presents. Real sockets
// and a real token check; hours pass in minutes. See test/renewal.
import { rehearse } from '../test/renewal/rehearsal.ts';
import { command, number, progress, secondsSince, seed } from './command-line.ts';

const help = `Renews nonces while calls come in, with a platform that fails, and a server that is started again now and then.

  npm run check -- renewal                            1,000 renewals with a seed of the moment
  npm run check -- renewal --rotations 100 --seed 7   fewer of them, with the misfortunes that seed 7 draws

  --rotations N       renewals to see (default 1000)
  --organizations N   organizations that share them (default 60)
  --restarts N        how often the server is started again meanwhile (default 6)
  --seed N            draws misfortunes and calls; the order on the sockets stays the machine's

Progress is on stderr; the last line of stdout is JSON: {"ok", "rotations", "refusedCalls", "duplicateDataSources",
"doubleRenewals", "lapsedTokens", "calls", "brokenCalls", "restarts", "faults", "leftTimers", "seed", "seconds"}. The exit code is
1 when a call was refused although its token had not ended, a data source was registered twice, a renewal was made twice, a
token ended before the next one was there, a call broke, or the server left a timer behind.
`;

await command({
  help,
  options: { rotations: number(1000, 1), organizations: number(60, 1), restarts: number(6), seed },
  run: async (plan) => {
    const startedMs = performance.now();
    const result = await rehearse({ ...plan, onProgress: progress });
    return { ...result, seed: plan.seed, seconds: secondsSince(startedMs) };
  },
});
