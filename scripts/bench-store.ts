// `npm run bench:store`: what does the shared store cost a turn? The same calls to a server that keeps them in memory and to one
// that keeps them in Redis. See scripts/fleet/store-cost.ts; docs/performance.md says what came out.
import { parseArgs } from 'node:util';
import { storeCost } from './fleet/store-cost.ts';
import { numberOption, programToStart, progress, told } from './fleet-options.ts';

const HELP = `Holds the same calls with store.kind memory and redis, on one server without a load balancer, with keys and no speech.

  npm run bench:store                                        40 calls, three times 40 s each
  npm run bench:store -- --calls 10 --seconds 10 --rounds 1  shorter: a check of the bench, not a result

  --calls N       calls at once (default 40)
  --seconds N     how long is measured, for each of both (default 40)
  --rounds N      how often; the median of the rounds counts (default 3)
  --source        start the source and not the build
  --seed N        draws what callers do

Needs Debian's redis-server. Run \`npm run build\` first, on a machine that does nothing else. Progress is on stderr; the last line of
stdout is JSON: {"ok", "memory", "redis", "addedP50Ms", "addedP99Ms", "operationsPerTurn", "operationsPerAnswer", …}. The exit code is 1
when a reply came more than 2 ms later at the 99th percentile, or a turn took more than two round trips.
`;

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '3' },
    source: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

async function bench(): Promise<number> {
  const cost = await storeCost({
    calls: numberOption('calls', values.calls, 1),
    seconds: numberOption('seconds', values.seconds, 1),
    rounds: numberOption('rounds', values.rounds, 1),
    program: programToStart(values.source),
    seed: numberOption('seed', values.seed),
    onProgress: progress,
  });
  return told(cost);
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await bench();
