// `npm run check -- store`: does the sealed store survive kills at any moment? Processes that write without end are killed,
// and the next start looks at what they left. See test/support/store-kills.ts.
import { parseArgs } from 'node:util';
import { killWriters } from '../test/support/store-kills.ts';

const HELP = `Kills processes while they write to the sealed store, and opens it again.

  npm run check -- store                       500 kills
  npm run check -- store --kills 50         fewer of them

  --kills N           kills to make (default 500)

Progress is on stderr; the last line of stdout is JSON: {"ok", "kills", "lost", "corrupted", "leftFiles", "seconds"}. The exit
code is 1 when a store lacked something that was said to be on disk (lost), did not open or held half of a change (corrupted),
when a half-written file outlived the next start (leftFiles), or when the processes wrote too little to prove anything.
`;

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '500' }, help: { type: 'boolean', default: false } },
});

async function check(): Promise<number> {
  const startedMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - startedMs) / 1000);
  const result = await killWriters(wholeNumber('kills', values.kills), (line) => {
    process.stderr.write(`${line}, ${String(seconds())} s\n`);
  });
  process.stdout.write(`${JSON.stringify({ ...result, seconds: seconds() })}\n`);
  return result.ok ? 0 : 1;
}

function wholeNumber(name: string, given: string): number {
  if (!/^[1-9]\d{0,5}$/u.test(given)) throw new Error(`--${name} wants a whole number from 1`);
  return Number(given);
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await check();
