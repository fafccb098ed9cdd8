// `npm run check -- overload`: what becomes of calls when three times as many arrive as the server takes? See scripts/fleet/overload.ts.
import { command, number, progress, source } from './command-line.ts';
import { overload } from './fleet/overload.ts';

const help = `Lets as many calls arrive as a server takes (sessions.max), and then three times as many.

  npm run check -- overload                              100 calls, three times as many, a minute each
  npm run check -- overload --capacity 20 --seconds 20   shorter

  --capacity N    calls that the server takes at once (default 100)
  --times N       how many times as many arrive (default 3)
  --seconds N     length of each load (default 60)
  --source        start the source and not the build
  --seed N        draws what callers do

Needs Debian's redis-server and haproxy, which stand beside. Run \`npm run build\` first, on a machine that does nothing else. Progress
is on stderr; the last line of stdout is JSON: {"ok", "atCapacity", "overloaded", "replyP99Ratio", "memoryGrowthMb", …}. The exit code is
1 when the 99th percentile of replies in calls that are taken grew by more than 20 %, a caller who was refused waited 500 ms or longer
for a word, a call that was taken was lost, or memory grew by more than 100 MB.
`;

await command({
  help,
  options: { capacity: number(100, 1), times: number(3, 1), seconds: number(60, 1), source, seed: number(1) },
  run: async ({ source: program, ...plan }) => ({ ...(await overload({ ...plan, program, onProgress: progress })) }),
});
