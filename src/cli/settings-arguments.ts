// What all commands with settings share: the flags of the configuration, passed on unchanged.
import type { Command } from 'commander';
import { projectFile } from '../app/config/sources.ts';
import { EXIT } from '../base/terminal/failure.ts';

/** Adds `--config FILE` and any `--section.key value`; src/app/config interprets them. */
export function acceptSettings(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file, YAML or JSON (default: the variable PARLEY_CONFIG, else parley.yaml in this folder)')
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText(
      'after',
      '\nEvery setting is a flag too: --section.key=value. `parley config` lists them, config/default.yaml explains them.',
    );
}

/** The operands of a command with settings. All stand before the flags of settings. Optional ones may be missing, a variadic one many. */
export function operandsOf({ args, registeredArguments }: Command): readonly string[] {
  const firstFlag = args.findIndex((argument) => argument.startsWith('-'));
  const most = registeredArguments.at(-1)?.variadic === true ? args.length : registeredArguments.length;
  return args.slice(0, Math.min(most, firstFlag === -1 ? args.length : firstFlag));
}

/**
 * The id operand of a command with settings. Commander would mistake a flag of the settings for the id if the flag came first.
 * @throws CommanderError with the exit code of wrong usage when the id is missing.
 */
export function neededOperand(command: Command): string {
  const [id] = operandsOf(command);
  return id ?? command.error('error: the id is missing; it stands before the flags of settings', { exitCode: EXIT.usage });
}

/** The arguments for `loadSettings`, without the operands. Says on standard error when it uses the project's file. */
export function settingsArguments(command: Command): readonly string[] {
  const file: unknown = command.getOptionValue('config') ?? takenFile(command);
  const flags = command.args.slice(operandsOf(command).length);
  return typeof file === 'string' ? [...flags, `--config=${file}`] : flags;
}

function takenFile(command: Command): string | undefined {
  const file = projectFile();
  if (file !== undefined) command.configureOutput().writeErr?.(`using ${file}\n`);
  return file;
}
