// `npm run check -- renewal`: does a call ever lose by a renewal? The server renews the nonces of many organizations against a
// fake platform that fails in every way, while calls keep coming in with the tokens that the platform presents. Real sockets
// and a real token check; hours pass in minutes. See test/renewal.
import { parseArgs } from 'node:util';
import { rehearse } from '../test/renewal/rehearsal.ts';

const HELP = `Renews nonces while calls come in, with a platform that fails, and a server that is started again now and then.

  npm run check -- renewal                                   1,000 renewals with a seed of the moment
  npm run check -- renewal --rotations 100 --seed 7       fewer of them, with the misfortunes that seed 7 draws

  --rotations N       renewals to see (default 1000)
  --organizations N   organizations that share them (default 60)
  --restarts N        how often the server is started again meanwhile (default 6)
  --seed N            draws misfortunes and calls; the order on the sockets stays the machine's

Progress is on stderr; the last line of stdout is JSON: {"ok", "rotations", "refusedCalls", "duplicateDataSources",
"doubleRenewals", "lapsedTokens", "calls", "brokenCalls", "restarts", "faults", "leftTimers", "seed", "seconds"}. The exit code is
1 when a call was refused although its token had not ended, a data source was registered twice, a renewal was made twice, a
token ended before the next one was there, a call broke, or the server left a timer behind.
`;

const { values } = parseArgs({
  options: {
    rotations: { type: 'string', default: '1000' },
    organizations: { type: 'string', default: '60' },
    restarts: { type: 'string', default: '6' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
});

async function check(): Promise<number> {
  const startedMs = performance.now();
  const seed = wholeNumber('seed', values.seed);
  const { described, ...result } = await rehearse({
    rotations: wholeNumber('rotations', values.rotations, 1),
    organizations: wholeNumber('organizations', values.organizations, 1),
    restarts: wholeNumber('restarts', values.restarts),
    seed,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  for (const line of described) process.stderr.write(`${line.trimEnd()}\n`);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  process.stdout.write(`${JSON.stringify({ ...result, seed, seconds })}\n`);
  return result.ok ? 0 : 1;
}

function wholeNumber(name: string, given: string, least = 0): number {
  if (!/^\d{1,9}$/u.test(given) || Number(given) < least) throw new Error(`--${name} wants a whole number from ${String(least)}`);
  return Number(given);
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await check();
