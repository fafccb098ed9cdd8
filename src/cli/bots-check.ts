// `parley bots check`: loads every module of the bots folder, tries each bot out, and lists all problems.
import { Command } from 'commander';
import { botsFolder, promptsFolder } from '../app/bot-folders.ts';
import { originOf } from '../app/config/describe-settings.ts';
import { openCatalog } from '../app/open-catalog.ts';
import { loadSignalEngines } from '../app/signal-engines.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { speakingOther, wantingWords } from '../bot/catalog.ts';
import { loadFolder, type BotProblem, type LoadedFolder } from '../bot/loader.ts';
import { PromptFiles } from '../voice/prompt-files.ts';
import { probeBot } from './bot-probe.ts';
import { acceptBotSettings, loadBotSettings, type BotSettings } from './bot-settings.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { alignedRows } from '../base/terminal/table.ts';

const EXAMPLE = `
Loads every module, begins a call to each bot and answers it with silence, speech and a key. The handlers run as in a call:
what they ask over the network is really asked, and what they change is really changed. --load-only begins no call.
The last line is JSON: {"ok", "bots", "problems": [{"file", "problem", "mend"}], "warnings"}. Warnings fail nothing.

Example:
  $ parley bots check --folder bots

Exit code: 0 when all is well, 1 when something must be mended, 2 when the configuration is invalid.`;

const FOR_REAL = 'The handlers of the bots run now, and what they ask or change over the network is real; --load-only runs none.\n\n';

export function botsCheckCommand(leave: () => void): Command {
  const command = acceptBotSettings(new Command('check'))
    .option('--load-only', 'load the modules and run no handler')
    .description('load every bot module, try each bot out, and list what must be mended')
    .addHelpText('after', EXAMPLE);
  return command.action(async () => {
    try {
      const loaded = loadBotSettings(command);
      const found = await loadFolder(botsFolder(loaded.settings.bots));
      const isLoadOnly = command.opts<{ loadOnly?: true }>().loadOnly === true;
      if (!isLoadOnly) command.configureOutput().writeOut?.(FOR_REAL);
      const probed = isLoadOnly ? [] : await probeAll(found, loaded);
      const problems = [...found.problems, ...settingProblems(found, loaded), ...probed];
      if (found.modules.length === 0 && problems.length === 0) problems.push(emptyFolder(loaded));
      command.configureOutput().writeOut?.(reportOf(found, problems, warningsOf(found, loaded)));
      if (problems.length > 0) process.exitCode = EXIT.failed;
    } finally {
      leave();
    }
  });
}

function reportOf({ modules }: LoadedFolder, problems: readonly BotProblem[], warnings: readonly string[]): string {
  const isBad = (file: string): boolean => problems.some((problem) => problem.file === file);
  const rows = alignedRows(modules.map(({ file, bot }) => [isBad(file) ? 'BAD' : 'ok', bot.id, file]));
  const details = problems.map(({ file, problem, mend }) => `\n${file}\n  ${problem}\n    mend: ${mend}\n`);
  const warned = warnings.map((warning) => `\nwarning: ${warning}\n`);
  const result = { ok: problems.length === 0, bots: modules.length, problems, warnings };
  return [rows, ...details, ...warned, `${JSON.stringify(result)}\n`].join('');
}

function warningsOf({ modules }: LoadedFolder, { settings }: BotSettings): readonly string[] {
  const bots = modules.map(({ bot }) => bot);
  const unheard = settings.recognizer.engine === 'none' ? wantingWords(bots) : [];
  const mispronounced = settings.synthesizer.engine === 'flite' ? speakingOther(bots) : [];
  return [
    ...unheard.map((id) => `${id} answers speech and gets no words: set recognizer.engine, or recognition 'none' in the bot`),
    ...mispronounced.map((id) => `${id} speaks another language, and the embedded voice reads it as English: set synthesizer.engine http`),
  ];
}

async function probeAll({ modules }: LoadedFolder, { settings }: BotSettings): Promise<readonly BotProblem[]> {
  const { createResampler } = await loadSignalEngines();
  const recordings = new PromptFiles({ folder: promptsFolder(settings.bots), createResampler, clock: systemClock });
  const options = {
    folder: botsFolder(settings.bots),
    limitMs: settings.turns.deadlineMs,
    renderRecording: async (file: string) => recordings.render(file),
  };
  const problems: BotProblem[] = [];
  for (const module of modules) problems.push(...(await probeBot(module, options)));
  return problems;
}

/** Problems of settings about bots. These settings can be validated only when every bot is loaded. */
function settingProblems({ modules, problems }: LoadedFolder, loaded: BotSettings): readonly BotProblem[] {
  if (modules.length === 0 || problems.length > 0) return [];
  try {
    openCatalog(
      modules.map(({ bot }) => bot),
      loaded.settings.bots,
      originOf(loaded),
    );
    return [];
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'config_invalid') throw thrown;
    return [{ file: 'configuration', problem: thrown.message, mend: '`parley config` shows where each value comes from' }];
  }
}

function emptyFolder({ settings }: BotSettings): BotProblem {
  return { file: botsFolder(settings.bots), problem: 'there is no bot module in this folder', mend: 'write one: parley bots new ID' };
}
