// Loads bot modules from a folder: every module file, and every sub-folder with an index module. Runs only their top-level
// code.
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { waitAtMost } from '../base/abort.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { packageVersion } from '../base/package-root.ts';
import { isBot, kindOfBot, type Bot } from './bot.ts';
import { locationInFolder } from './error-location.ts';
import { enableTypeScript, isTypeScriptUnknown, TYPESCRIPT_MEND } from './typescript.ts';

/** A module that exports a bot. */
export interface BotModule {
  /** Relative to the folder. */
  readonly file: string;
  readonly bot: Bot;
}

/** A problem of one module, for its author. */
export interface BotProblem {
  /** Relative to the folder. */
  readonly file: string;
  readonly problem: string;
  readonly mend: string;
}

/** The content of a folder, valid and invalid. */
export interface LoadedFolder {
  /** Sorted by file name; no two have the same id. */
  readonly modules: readonly BotModule[];
  readonly problems: readonly BotProblem[];
}

/** How to load modules. */
export interface LoadOptions {
  /** The address that a module is imported from. Default: its file, which Node loads once per process. */
  readonly urlOf?: (file: string) => string;
  readonly clock?: Clock;
  /** Limit for one module, ms. Default 10 seconds. */
  readonly limitMs?: number;
}

/** Folders inside a bots folder without modules: recordings, packages and hidden ones. */
export const isNoModuleFolder = (name: string): boolean => name === 'prompts' || name === 'node_modules' || name.startsWith('.');

const MODULE = /^(?<stem>[^.]+)\.(?:m?js|ts)$/;
const LOAD_LIMIT_MS = 10_000;
/** What bots import. */
const PACKAGE = 'parley-voice';

/**
 * Loads all bots of a folder.
 *
 * @param folder - absolute path.
 * @throws AppError `bot_invalid` that lists every module that exports no bot, does not load or has a duplicate id.
 */
export async function loadBots(folder: string, options: LoadOptions = {}): Promise<readonly Bot[]> {
  const { modules, problems } = await loadFolder(folder, options);
  if (problems.length > 0) {
    const lines = problems.map(({ file, problem, mend }) => `  ${file}: ${problem}\n    mend: ${mend}`);
    throw new AppError('bot_invalid', [`bots in ${folder} cannot be used:`, ...lines].join('\n'));
  }
  if (modules.length === 0) throw new AppError('bot_invalid', `there is no bot module in ${folder}`);
  return modules.map(({ bot }) => bot);
}

/**
 * Loads the valid modules, and lists the others.
 *
 * @throws AppError `bot_invalid` when the folder cannot be read.
 */
export async function loadFolder(folder: string, options: LoadOptions = {}): Promise<LoadedFolder> {
  const files = await moduleFiles(folder);
  // Where it cannot be enabled, each module reports that it did not load.
  if (files.some((file) => file.endsWith('.ts'))) await enableTypeScript(folder);
  const modules: BotModule[] = [];
  const problems: BotProblem[] = [];
  // All at once, so that the slowest module bounds the wait and not the sum of all.
  for (const loaded of await Promise.all(files.map((file) => loadModule(folder, file, options)))) {
    if (!('bot' in loaded)) {
      problems.push(loaded);
      continue;
    }
    const namesake = modules.find(({ bot }) => bot.id === loaded.bot.id);
    if (namesake === undefined) modules.push(loaded);
    else {
      const problem = `its id "${loaded.bot.id}" is the id of ${namesake.file}`;
      problems.push({ file: loaded.file, problem, mend: 'give one of them another id; an id that a flow already uses must stay (G-06)' });
    }
  }
  return { modules, problems };
}

async function loadModule(folder: string, file: string, options: LoadOptions): Promise<BotModule | BotProblem> {
  const { urlOf = fileUrl, clock = systemClock, limitMs = LOAD_LIMIT_MS } = options;
  try {
    const module: Promise<unknown> = import(urlOf(path.join(folder, file)));
    const waited = await waitAtMost(module, limitMs, clock);
    if (waited.kind !== 'value') {
      const problem = `it was not loaded within ${String(limitMs)} ms`;
      return { file, problem, mend: 'wait for nothing at the top level of a module; connect in session_start' };
    }
    const { value } = waited;
    const exported: unknown = typeof value === 'object' && value !== null && 'default' in value ? value.default : undefined;
    if (isBot(exported)) return { file, bot: exported };
    if (kindOfBot(exported) === 'other_api') return { file, ...otherApi(folder) };
    const mend = 'write `export default bot({...})`; a module that is no bot belongs into a sub-folder without an index module';
    return { file, problem: 'the default export is no bot', mend };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const place = locationInFolder(folder, thrown);
    const problem = message.replaceAll('\n', '\n    ');
    if (isTypeScriptUnknown(thrown)) return { file, problem, mend: TYPESCRIPT_MEND };
    return { file, problem, mend: place === undefined ? 'mend what the message says' : `look at ${place}` };
  }
}

/** Why a bot of another copy of this package cannot run here, with both versions. */
function otherApi(folder: string): { readonly problem: string; readonly mend: string } {
  const ours = packageVersion();
  let theirs = 'another version';
  try {
    const manifest: unknown = createRequire(path.join(folder, 'bots.js'))(`${PACKAGE}/package.json`);
    theirs = `version ${String(Reflect.get(Object(manifest), 'version'))}`;
  } catch {
    // The copy that made the bot lies somewhere else.
  }
  return {
    problem: `it was made with ${theirs} of ${PACKAGE}, and this server is version ${ours}`,
    mend: `start the server of the same version: npx parley, in the folder of the bots`,
  };
}

function fileUrl(file: string): string {
  return pathToFileURL(file).href;
}

async function moduleFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new AppError('bot_invalid', `the bots folder ${folder} cannot be read`, { cause });
  });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isFile() && MODULE.test(entry.name)) found.push(entry.name);
    if (!entry.isDirectory() || isNoModuleFolder(entry.name)) continue;
    const inside = await readdir(path.join(folder, entry.name));
    const index = inside.find((name) => MODULE.exec(name)?.groups?.['stem'] === 'index');
    if (index !== undefined) found.push(path.join(entry.name, index));
  }
  return found;
}
