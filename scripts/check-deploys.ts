// `npm run check:deploys`: does a caller notice a rolling restart? Replicas behind a load balancer are stopped in good order and
// started again, one after the other, while calls run, and nobody says a turn again. See test/fleet.
import { parseArgs } from 'node:util';
import { deploys } from '../test/fleet/failover.ts';
import { Fleet } from '../test/fleet/fleet.ts';
import { numberOption, programToStart, progress, told } from './fleet-options.ts';

const HELP = `Restarts one server after the other while calls run over three of them behind HAProxy, with a Redis server that they share.

  npm run check:deploys                                        five minutes, 100 calls at once, a restart every 20 s
  npm run check:deploys -- --minutes 1 --calls 20 --every 10   shorter

  --minutes N     how long new calls begin (default 5); --seconds N likewise
  --calls N       calls at once (default 100)
  --every N       seconds between the beginnings of two restarts (default 20)
  --replicas N    servers (default 3)
  --source        start the source and not the build
  --seed N        draws what callers do

Needs Debian's redis-server and haproxy. Run \`npm run build\` first: without a build the source is started, which takes longer.
Progress and what callers heard are on stderr; the last line of stdout is JSON: {"ok", "failedTurns", "failedCalls",
"gapsOver200Ms", "restarts", …}. The exit code is 1 when a turn failed, a caller heard a gap of more than 200 ms inside a prompt, a
rule of the contract was broken, or a server did not end well.
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seconds: { type: 'string' },
    calls: { type: 'string', default: '100' },
    every: { type: 'string', default: '20' },
    replicas: { type: 'string', default: '3' },
    source: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
});

async function check(): Promise<number> {
  const seconds = values.seconds === undefined ? 60 * numberOption('minutes', values.minutes) : numberOption('seconds', values.seconds, 1);
  const seed = numberOption('seed', values.seed);
  const program = programToStart(values.source);
  progress(`seed ${String(seed)}, starting ${values.replicas} servers (${program})`);
  const fleet = await Fleet.start({ replicas: numberOption('replicas', values.replicas, 1), program });
  try {
    const calls = numberOption('calls', values.calls, 1);
    const everySeconds = numberOption('every', values.every, 1);
    return told(await deploys({ fleet, calls, seconds, everySeconds, seed, onProgress: progress }), { seed, seconds });
  } finally {
    await fleet.close();
  }
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await check();
