// `npm run bench -- NAME`: a benchmark by its name; without one, the engine as it is built now.
import { spawnSync } from 'node:child_process';
import { BENCHES, commandList, ENGINE_BENCH, runCommand } from './commands.mjs';

const HELP = `Measures; the last line is JSON. Each has a --help of its own.

${commandList(BENCHES, 'bench')}
Without a name it builds the server and measures the engine: npm run bench -- --calls 500 --rounds 3
`;

const [first = '', ...rest] = process.argv.slice(2);
const named = BENCHES[first];
if (named !== undefined) runCommand(named, rest);
else if (first === '--help') process.stdout.write(HELP);
else if (first !== '' && !first.startsWith('-')) {
  process.stderr.write(`there is no benchmark ${first}\n\n${HELP}`);
  process.exitCode = 2;
} else {
  const built = spawnSync('npm', ['run', '--silent', 'build'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (built.status === 0) runCommand(ENGINE_BENCH, process.argv.slice(2));
  else process.exitCode = 1;
}
