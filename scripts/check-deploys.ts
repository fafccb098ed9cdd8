// `npm run check -- deploys`: does a caller notice a rolling restart? Replicas behind a load balancer are stopped in good order and
// started again, one after the other, while calls run, and no turn is repeated. See test/fleet.
import { deploys } from '../test/fleet/failover.ts';
import { disturbedRun } from './fleet/disturbed-run.ts';

const help = `Restarts one server after the other while calls run over three of them behind HAProxy, with a Redis server that they share.

  npm run check -- deploys                                     five minutes, 100 calls at once, a restart every 20 s
  npm run check -- deploys --minutes 1 --calls 20 --every 10   shorter

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

await disturbedRun({ help, minutes: 5, everySeconds: 20, prove: deploys });
