// `npm run check -- store`: does the sealed store survive kills at any moment? Processes that write without end are killed,
// and the next start checks what they left. See test/support/store-kills.ts.
import { killWriters } from '../test/support/store-kills.ts';
import { command, number, progress, secondsSince } from './command-line.ts';

const help = `Kills processes while they write to the sealed store, and opens it again.

  npm run check -- store                    500 kills
  npm run check -- store --kills 50         fewer of them

  --kills N           kills to make (default 500)

Progress is on stderr; the last line of stdout is JSON: {"ok", "kills", "lost", "corrupted", "leftFiles", "seconds"}. The exit
code is 1 when a store lacked something that was said to be on disk (lost), did not open or held half of a change (corrupted),
when a half-written file outlived the next start (leftFiles), or when the processes wrote too little to prove anything.
`;

await command({
  help,
  options: { kills: number(500, 1) },
  run: async ({ kills }) => {
    const startedMs = performance.now();
    const result = await killWriters(kills, (line) => {
      progress(`${line}, ${String(secondsSince(startedMs))} s`);
    });
    return { ...result, seconds: secondsSince(startedMs) };
  },
});
