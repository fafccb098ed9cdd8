// What every command that needs the settings has in common: the flags of the configuration, passed on as they are.
import type { Command } from 'commander';

/** Lets a command take `--config FILE` and any `--section.key value`; what they mean is decided by the settings. */
export function acceptSettings(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file, YAML or JSON (default: the variable PARLEY_CONFIG)')
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', '\nEvery setting is a flag too: --section.key=value. `parley config` lists them, docs/config.md explains them.');
}

/** The arguments of such a command as `loadSettings` takes them. */
export function settingsArguments(command: Command): readonly string[] {
  const file: unknown = command.getOptionValue('config');
  return typeof file === 'string' ? [...command.args, `--config=${file}`] : command.args;
}
