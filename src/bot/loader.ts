// Loads bot modules from a folder: every module file, and every sub-folder with an index module. Runs their top-level
// code and nothing else of them.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError } from '../base/errors.ts';
import { isBot, type Bot } from './bot.ts';

// Compiled bots are .js; .ts loads only where the process can run TypeScript (`npm run dev`, tests).
const MODULE = /^(?<stem>[^.]+)\.(?:m?js|ts)$/;
const PROMPTS_FOLDER = 'prompts';

/**
 * Loads all bots of a folder.
 *
 * @param folder - absolute path.
 * @throws AppError `bot_invalid` that lists every module that is no bot or does not load.
 */
export async function loadBots(folder: string): Promise<readonly Bot[]> {
  const files = await moduleFiles(folder);
  const bots: Bot[] = [];
  const problems: string[] = [];
  for (const file of files) {
    try {
      const module: unknown = await import(pathToFileURL(file).href);
      const exported: unknown = typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
      if (isBot(exported)) bots.push(exported);
      else problems.push(`${path.relative(folder, file)}: the default export is no bot; write \`export default bot({...})\``);
    } catch (thrown) {
      problems.push(`${path.relative(folder, file)}: ${thrown instanceof Error ? thrown.message : 'threw something that is no error'}`);
    }
  }
  if (problems.length > 0) throw new AppError('bot_invalid', `bots in ${folder} cannot be used:\n  ${problems.join('\n  ')}`);
  if (bots.length === 0) throw new AppError('bot_invalid', `there is no bot module in ${folder}`);
  return bots;
}

async function moduleFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new AppError('bot_invalid', `the bots folder ${folder} cannot be read`, { cause });
  });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isFile() && MODULE.test(entry.name)) found.push(path.join(folder, entry.name));
    if (!entry.isDirectory() || entry.name === PROMPTS_FOLDER || entry.name.startsWith('.')) continue;
    const inside = await readdir(path.join(folder, entry.name));
    const index = inside.find((name) => MODULE.exec(name)?.groups?.['stem'] === 'index');
    if (index !== undefined) found.push(path.join(folder, entry.name, index));
  }
  return found;
}
