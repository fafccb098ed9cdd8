// `npm run check -- failover`: is any call lost when servers die? Replicas behind a load balancer are killed with `kill -9` while
// calls run, and the fake platform repeats a turn that is cut. Redis is restarted and goes away meanwhile, of which nobody may
// hear anything. See test/fleet.
import { failover, type FailoverPlan, type FailoverResult } from '../test/fleet/failover.ts';
import { disturbedRun } from './fleet/disturbed-run.ts';

/** Longest outage of Redis, s; shorter runs have a shorter one. */
const OUTAGE_SECONDS = 60;
const PART_OF_RUN = 0.25;

const help = `Kills servers while calls run over three of them behind HAProxy, with a Redis server that they share. Between two kills Redis is
restarted once, and once it is away for 60 s, or for a quarter of a shorter run.

  npm run check -- failover                                    ten minutes, 100 calls at once, a kill every 15 s
  npm run check -- failover --minutes 1 --calls 20 --every 5   shorter

  --minutes N     how long new calls begin (default 10); --seconds N likewise
  --calls N       calls at once (default 100)
  --every N       seconds between two kills (default 15)
  --replicas N    servers (default 3)
  --source        start the source and not the build
  --seed N        draws what callers do and who is killed

Needs Debian's redis-server and haproxy. Run \`npm run build\` first: without a build the source is started, which takes longer.
Progress and what callers heard are on stderr; the last line of stdout is JSON: {"ok", "callsLostBetweenTurns", "callsLostInTurn",
"turnsRepeated", "kills", "redisOutages", "callersWhoHeardTheOutage", …}. The exit code is 1 when a call was lost, a caller heard that
Redis was away (a reply over 2 s late, an apology, a transfer, a turn that broke), a rule of the contract was broken, or nothing was proved.
`;

const prove = (plan: FailoverPlan): Promise<FailoverResult> =>
  failover({ ...plan, outageSeconds: Math.round(Math.min(OUTAGE_SECONDS, plan.seconds * PART_OF_RUN)) });

await disturbedRun({ help, minutes: 10, everySeconds: 15, prove });
