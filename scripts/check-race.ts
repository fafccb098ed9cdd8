// `npm run check:race`: can two servers write the same call at once? Two engines with one Redis server answer the same input of
// the same call, thousands of times. See test/fleet/race.ts.
import { parseArgs } from 'node:util';
import { KeptRedis } from '../test/fleet/kept-redis.ts';
import { race, type RaceKind } from '../test/fleet/race.ts';
import { numberOption, progress } from './fleet-options.ts';

const HELP = `Lets two engines answer the same input of the same call, each with a connection of its own to one Redis server.

  npm run check:race                       10,000 races of each kind
  npm run check:race -- --races 500        fewer of them

  --races N       races of each kind (default 10000)

same_version: the first one stood still for longer than its lease, both have read the same version and write at the same moment.
One commit wins, and both streams say its reply. same_moment: one waits for the other, and each input is counted once.

Needs Debian's redis-server. Progress is on stderr; the last line of stdout is JSON: {"ok", "same_version": {"races", "commits",
"refused", "twoWinners", "noWinner", "differentReplies", "lostUpdates", "wonBy"}, "same_moment": …, "seconds"}. The exit code is 1
when two won, nobody won, the streams said different things, or what was written is not what was heard.
`;

const { values } = parseArgs({
  options: { races: { type: 'string', default: '10000' }, help: { type: 'boolean', default: false } },
});

async function check(): Promise<number> {
  const startedMs = performance.now();
  const races = numberOption('races', values.races, 1);
  const redis = await KeptRedis.start();
  try {
    const url = `redis://127.0.0.1:${String(redis.port)}`;
    const run = (kind: RaceKind): ReturnType<typeof race> => race(url, kind, races, progress);
    const [same_version, same_moment] = [await run('same_version'), await run('same_moment')];
    const ok = same_version.ok && same_moment.ok;
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    process.stdout.write(`${JSON.stringify({ ok, same_version, same_moment, seconds })}\n`);
    return ok ? 0 : 1;
  } finally {
    await redis.stop();
  }
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await check();
