// `parley bots new <id>`: writes a working bot and its test.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { isInstalled } from '../base/package-root.ts';
import { bot } from '../bot/bot.ts';
import { go, listen } from '../bot/saying.ts';
import { scaffoldOf } from './bot-scaffold.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { alignedRows } from '../base/terminal/table.ts';

const DEFAULT_FOLDER = 'bots';

/** The command. Exit code 1 when a file exists already, 2 for an invalid id or folder. */
export function botsNewCommand(): Command {
  const command = new Command('new')
    .description('write a new bot and its test; nothing is overwritten')
    .argument('<id>', 'what the platform will store in its flows: lower-case letters, digits and dashes; it must never change')
    .option('--folder <folder>', 'where to put it', DEFAULT_FOLDER)
    .addHelpText('after', '\nExample:\n  $ parley bots new night-line');
  return command.action(async (id: string, options: { folder: string }) => {
    const misused = (message: string): never => command.error(`error: ${message}`, { exitCode: EXIT.usage });
    const faulty = faultOf(id);
    if (faulty !== undefined) misused(faulty);
    const folder = path.resolve(options.folder);
    const written = await writeBoth(folder, id);
    if ('taken' in written) {
      command
        .configureOutput()
        .writeErr?.(`${path.relative(process.cwd(), written.taken)} is there already; choose another id or remove it\n`);
      process.exitCode = EXIT.failed;
      return;
    }
    command.configureOutput().writeOut?.(nextSteps(id, options.folder, written.files));
  });
}

/** What is wrong with an id, as `bot()` says it; undefined: nothing. */
function faultOf(id: string): string | undefined {
  try {
    bot<null>({ id, name: id, version: 1, session_start: () => go(null, listen()), otherwise: () => go(null, listen()) });
    return undefined;
  } catch (thrown) {
    if (thrown instanceof TypeError) return thrown.message;
    throw thrown;
  }
}

async function writeBoth(folder: string, id: string): Promise<{ readonly files: readonly string[] } | { readonly taken: string }> {
  const { module, test } = scaffoldOf(id);
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  for (const [name, text] of [
    [`${id}.ts`, module],
    [`${id}.test.ts`, test],
  ] as const) {
    const file = path.join(folder, name);
    try {
      await writeFile(file, text, { flag: 'wx' });
      files.push(file);
    } catch (thrown) {
      await Promise.all(files.map((done) => rm(done)));
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') return { taken: file };
      throw thrown;
    }
  }
  return { files };
}

function nextSteps(id: string, folder: string, files: readonly string[]): string {
  const where = folder === DEFAULT_FOLDER ? '' : ` --bots.folder=${folder}`;
  const parley = isInstalled() ? 'npx parley' : 'npm run parley --';
  const next = alignedRows([
    [`  npm test -- ${path.join(folder, `${id}.test.ts`)}`, 'its test'],
    [`  ${parley} bots check --folder ${folder}`, 'every bot, tried out with each kind of event'],
    [`  npm run dev --${where} --bots.default_bot=${id}`, 'a page to call it from, which takes up every change'],
    [`  ${parley} call grpc://127.0.0.1:8086 --org laptop --agent ${id} --press 1`, 'a call to it, from a second terminal'],
  ]);
  const wrote = files.map((file) => `wrote ${path.relative(process.cwd(), file)}\n`).join('');
  return `${wrote}\nnext:\n${next}`;
}
