// The settings of commands that read bots without serving them.
import type { Command } from 'commander';
import { loadSections, type LoadedSections } from '../app/config/load-settings.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';

/** The settings of a command that reads bots without serving them. */
export type BotSettings = LoadedSections<'bots' | 'recognizer' | 'synthesizer' | 'turns'>;

/** Adds `--folder` to the flags of the configuration. */
export function acceptBotSettings(command: Command): Command {
  return acceptSettings(command).option(
    '--folder <folder>',
    'folder with the bot modules, the same as --bots.folder (default: the setting)',
  );
}

/** Loads {@link BotSettings}. @throws AppError `config_invalid`. */
export function loadBotSettings(command: Command): BotSettings {
  const folder: unknown = command.getOptionValue('folder');
  const own = typeof folder === 'string' ? [`--bots.folder=${folder}`] : [];
  return loadSections({ argv: [...settingsArguments(command), ...own] }, 'bots', 'recognizer', 'synthesizer', 'turns');
}
