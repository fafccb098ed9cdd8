// What every command that needs the settings has in common: the flags of the configuration, passed on as they are.
import type { Command } from 'commander';
import { EXIT } from '../base/terminal/failure.ts';

/** Lets a command take `--config FILE` and any `--section.key value`; what they mean is decided by the settings. */
export function acceptSettings(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file, YAML or JSON (default: the variable PARLEY_CONFIG)')
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText(
      'after',
      '\nEvery setting is a flag too: --section.key=value. `parley config` lists them, config/default.yaml explains them.',
    );
}

/** The operands of such a command, which come before all flags of settings; an optional one may be missing. */
export function operandsOf({ args, registeredArguments }: Command): readonly string[] {
  const firstFlag = args.findIndex((argument) => argument.startsWith('-'));
  return args.slice(0, Math.min(registeredArguments.length, firstFlag === -1 ? args.length : firstFlag));
}

/**
 * The id that such a command is about; Commander takes a flag of the settings for it when that stands first.
 *
 * @throws CommanderError with the exit code of wrong usage when it is missing.
 */
export function neededOperand(command: Command): string {
  const [id] = operandsOf(command);
  return id ?? command.error('error: the id is missing; it stands before the flags of settings', { exitCode: EXIT.usage });
}

/** The arguments of such a command as `loadSettings` takes them; operands of its own are left out. */
export function settingsArguments(command: Command): readonly string[] {
  const file: unknown = command.getOptionValue('config');
  const flags = command.args.slice(operandsOf(command).length);
  return typeof file === 'string' ? [...flags, `--config=${file}`] : flags;
}
