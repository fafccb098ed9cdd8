// `parley init FOLDER`: writes a complete project of bots, with passing tests, from the folder template/ of the package.
import { appendFile, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { packageRoot } from '../base/package-root.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { alignedRows } from '../base/terminal/table.ts';

/** Names in the template, and final names. npm drops some final names, and others would make the template a project of its own. */
const RENAMED = [
  ['gitignore', '.gitignore'],
  ['dockerignore', '.dockerignore'],
  ['github', '.github'],
  ['package.template.json', 'package.json'],
  ['tsconfig.template.json', 'tsconfig.json'],
] as const;
/** Folder of the template with the assistant, which replaces the menu. APPENDED: its files that are appended to those of every project. */
const ASSISTANT = 'ai';
const APPENDED = ['README.md', 'parley.production.yaml'];
const MENU = ['bots/hello.ts', 'bots/hello.test.ts', 'scenarios/hello.yaml'];

/** Characters that the name of a package cannot have. */
const NOT_IN_NAMES = /[^a-z0-9-]+/gu;

/** The command. Exit code 2 when the folder has anything but `.git`. */
export function initCommand(): Command {
  const command = new Command('init')
    .description('write a project of bots: a bot with its test, a scenario, configurations, and what tests and ships it')
    .argument('<folder>', 'the new project; it must be empty or not there yet')
    .option('--ai', 'the bot is an assistant, with fake models for work without a key')
    .addHelpText('after', '\nExamples:\n  $ npx parley-voice init my-bots\n  $ npx parley-voice init my-bots --ai');
  return command.action(async (folder: string, { ai = false }: { readonly ai?: boolean }) => {
    const target = path.resolve(folder);
    if (!(await isFree(target))) command.error(`error: ${target} is not empty; nothing was written`, { exitCode: EXIT.usage });
    await writeProject(target, ai);
    command.configureOutput().writeOut?.(nextSteps(path.relative(process.cwd(), target), ai));
  });
}

/** Writes the project. @param target - absolute path; made if missing. @param isAssistant - whether its bot is an assistant. */
export async function writeProject(target: string, isAssistant = false): Promise<void> {
  const template = path.join(packageRoot(), 'template');
  await mkdir(target, { recursive: true });
  await cp(template, target, { recursive: true, filter: (from) => from !== path.join(template, ASSISTANT) });
  if (isAssistant) await addAssistant(path.join(template, ASSISTANT), target);
  for (const [from, to] of RENAMED) await rename(path.join(target, from), path.join(target, to));
  const name =
    path
      .basename(target)
      .toLowerCase()
      .replace(NOT_IN_NAMES, '-')
      .replace(/^-+|-+$/gu, '') || 'my-bots';
  for (const file of ['package.json', 'README.md', 'Dockerfile']) {
    await change(path.join(target, file), (text) => text.replaceAll('my-bots', name));
  }
}

async function addAssistant(from: string, target: string): Promise<void> {
  const manifest = 'package.template.json';
  for (const file of MENU) await rm(path.join(target, file));
  await cp(from, target, { recursive: true, filter: (file) => ![manifest, ...APPENDED].includes(path.relative(from, file)) });
  for (const file of APPENDED) await appendFile(path.join(target, file), `\n${await readFile(path.join(from, file), 'utf8')}`);
  await change(path.join(target, 'parley.production.yaml'), (text) => text.replace('default_bot: hello', 'default_bot: desk'));
  const more = JSON.parse(await readFile(path.join(from, manifest), 'utf8')) as Manifest;
  await change(path.join(target, manifest), (text) => {
    const manifest = JSON.parse(text) as Manifest;
    return `${JSON.stringify({ ...manifest, scripts: { ...manifest.scripts, ...more.scripts } }, undefined, 2)}\n`;
  });
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
}

async function change(file: string, changed: (text: string) => string): Promise<void> {
  await writeFile(file, changed(await readFile(file, 'utf8')));
}

async function isFree(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).every((name) => name === '.git');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return true;
    throw thrown;
  }
}

function nextSteps(folder: string, isAssistant: boolean): string {
  const bot = isAssistant ? 'bots/desk.ts' : 'bots/hello.ts';
  const rows = alignedRows([
    ...(folder === '' ? [] : [[`  cd ${/\s/u.test(folder) ? `'${folder}'` : folder}`, ''] as const]),
    ['  npm install', ''],
    ['  npm test', `the test of ${bot}`],
    ...(isAssistant ? [['  npm run models', 'a fake model and recognizer, until a real one is set: see README.md'] as const] : []),
    [
      '  npm run dev',
      `a page on this machine to call the bot from; it takes up every change${isAssistant ? ', in a second terminal' : ''}`,
    ],
    ['  npm run call', `a call to it, from a ${isAssistant ? 'third' : 'second'} terminal`],
  ]);
  return `wrote a project with one bot, ${bot}\n\nnext:\n${rows}`;
}
