// `npm run check:failover`: is any call lost when servers die? Replicas behind a load balancer are killed with `kill -9` while
// calls run, and a turn that is cut is said again by the fake platform. See test/fleet.
import { failover } from '../test/fleet/failover.ts';
import { disturbedRun } from './fleet/disturbed-run.ts';

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

process.exitCode = await disturbedRun({ help: HELP, minutes: 10, everySeconds: 15, prove: failover });
