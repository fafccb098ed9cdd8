// `npm run check:failover`: is any call lost when servers die? Replicas behind a load balancer are killed with `kill -9` while
// calls run, and a turn that is cut is said again by the fake platform. See test/fleet.
import { parseArgs } from 'node:util';
import { failover } from '../test/fleet/failover.ts';
import { Fleet } from '../test/fleet/fleet.ts';
import { numberOption, programToStart, progress, told } from './fleet-options.ts';

const HELP = `Kills servers while calls run over three of them behind HAProxy, with a Redis server that they share.

  npm run check:failover                                       ten minutes, 100 calls at once, a kill every 15 s
  npm run check:failover -- --minutes 1 --calls 20 --every 5   shorter

  --minutes N     how long new calls begin (default 10); --seconds N likewise
  --calls N       calls at once (default 100)
  --every N       seconds between two kills (default 15)
  --replicas N    servers (default 3)
  --source        start the source and not the build
  --seed N        draws what callers do and who is killed

Needs Debian's redis-server and haproxy. Run \`npm run build\` first: without a build the source is started, which takes longer.
Progress and what callers heard are on stderr; the last line of stdout is JSON: {"ok", "callsLostBetweenTurns", "callsLostInTurn",
"turnsRepeated", "kills", …}. The exit code is 1 when a call was lost, a rule of the contract was broken, or nothing was proved.
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seconds: { type: 'string' },
    calls: { type: 'string', default: '100' },
    every: { type: 'string', default: '15' },
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
    return told(await failover({ fleet, calls, seconds, everySeconds, seed, onProgress: progress }), { seed, seconds });
  } finally {
    await fleet.close();
  }
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await check();
