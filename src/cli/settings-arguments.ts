// What every command that needs the settings has in common: the flags of the configuration, passed on as they are.
import type { Command } from 'commander';

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

/** The arguments of such a command as `loadSettings` takes them; operands of its own are left out. */
export function settingsArguments(command: Command): readonly string[] {
  const file: unknown = command.getOptionValue('config');
  const flags = command.args.slice(operandsOf(command).length);
  return typeof file === 'string' ? [...flags, `--config=${file}`] : flags;
}
