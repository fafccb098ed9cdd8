// `npm run check -- scale`: is any call cut when a fleet grows, shrinks and loses servers? See scripts/fleet/scale.ts.
import { Fleet } from '../test/fleet/fleet.ts';
import { WITH_SOCKETS } from '../test/support/socket-peer.ts';
import { command, number, progress, seed, source } from './command-line.ts';
import { scaled } from './fleet/scale.ts';

const MOST_SERVERS = 5;
/** Longer than a call over WebSocket. */
const DRAIN_MS = 45_000;

const help = `Starts servers, stops them in good order and kills them at random while calls run over two to five of them behind HAProxy, with a
Redis server that they share. A third of the calls is over WebSocket.

  npm run check -- scale                          ten minutes, 30 calls at once, 200 events
  npm run check -- scale --events 20 --calls 10   shorter

  --events N      starts, stops and kills (default 200)
  --every N       seconds between two of them (default 3)
  --calls N       calls at once (default 30)
  --source        start the source and not the build
  --seed N        draws what callers do and what happens

Needs Debian's redis-server and haproxy. Run \`npm run build\` first: without a build the source is started, which takes longer.
Progress and what callers heard are on stderr; the last line of stdout is JSON: {"ok", "events", "calls", "turns", "cutBetweenTurns",
"turnsCutByKills", "socketCallsCutByKills", …}. The exit code is 1 when a call was lost or heard an apology, anything but a kill cut a turn or a
call over WebSocket, a rule of the contract was broken, or a server that was stopped did not end well.
`;

await command({
  help,
  options: { events: number(200, 1), every: number(3, 1), calls: number(30, 3), source, seed },
  run: async ({ source: program, every, ...given }) => {
    progress(`seed ${String(given.seed)}, starting ${String(MOST_SERVERS)} servers (${program})`);
    const flags = [...WITH_SOCKETS, `--websocket.drain_ms=${String(DRAIN_MS)}`];
    const fleet = await Fleet.start({ replicas: MOST_SERVERS, program, flags });
    try {
      return { ...(await scaled({ ...given, fleet, everySeconds: every, onProgress: progress })), seed: given.seed };
    } finally {
      await fleet.close();
    }
  },
});
