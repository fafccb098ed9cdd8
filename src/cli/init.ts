// `parley init FOLDER`: writes a project of bots, complete and with passing tests, from the folder template/ of the package.
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { packageRoot } from '../base/package-root.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { alignedRows } from '../base/terminal/table.ts';

/** A package drops or hides files with some of these names, and the last two would make the template a project of its own here. */
const RENAMED = [
  ['gitignore', '.gitignore'],
  ['dockerignore', '.dockerignore'],
  ['github', '.github'],
  ['package.template.json', 'package.json'],
  ['tsconfig.template.json', 'tsconfig.json'],
] as const;
/** The name of a package: what is left of a folder's name. */
const NOT_IN_NAMES = /[^a-z0-9-]+/gu;

/** The command. Exit code 2 when something lies in the folder. */
export function initCommand(): Command {
  const command = new Command('init')
    .description('write a project of bots: a bot with its test, a scenario, configurations, and what tests and ships it')
    .argument('<folder>', 'the new project; it must be empty or not there yet')
    .addHelpText('after', '\nExample:\n  $ npx parley-voice init my-bots');
  return command.action(async (folder: string) => {
    const target = path.resolve(folder);
    if (!(await isFree(target))) command.error(`error: ${target} is not empty; nothing was written`, { exitCode: EXIT.usage });
    await writeProject(target);
    command.configureOutput().writeOut?.(nextSteps(path.relative(process.cwd(), target)));
  });
}

/** Writes the project. @param target - absolute; made when it is not there. */
export async function writeProject(target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  await cp(path.join(packageRoot(), 'template'), target, { recursive: true });
  for (const [from, to] of RENAMED) await rename(path.join(target, from), path.join(target, to));
  const name =
    path
      .basename(target)
      .toLowerCase()
      .replace(NOT_IN_NAMES, '-')
      .replace(/^-+|-+$/gu, '') || 'my-bots';
  for (const file of ['package.json', 'README.md', 'Dockerfile']) {
    const text = await readFile(path.join(target, file), 'utf8');
    await writeFile(path.join(target, file), text.replaceAll('my-bots', name));
  }
}

async function isFree(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).every((name) => name === '.git');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return true;
    throw thrown;
  }
}

function nextSteps(folder: string): string {
  const rows = alignedRows([
    ...(folder === '' ? [] : [[`  cd ${/\s/u.test(folder) ? `'${folder}'` : folder}`, ''] as const]),
    ['  npm install', ''],
    ['  npm test', 'the test of bots/hello.ts'],
    ['  npm run dev', 'a server on this machine that takes up every change of a bot'],
    ['  npm run call', 'a call to it, from a second terminal'],
  ]);
  return `wrote a project with one bot, bots/hello.ts\n\nnext:\n${rows}`;
}
