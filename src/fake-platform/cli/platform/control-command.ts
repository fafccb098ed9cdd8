// What all commands that control a running fake platform share: the port, the output, and the example in
// the help.
import type { Command } from 'commander';
import pc from 'picocolors';
import { wholeNumberFrom } from '../../../base/terminal/option-values.ts';
import { control } from './control-client.ts';
import type { ControlAnswer, ControlName, ControlRequest } from '../../platform/control-wire.ts';

/** The default port. */
export const PLATFORM_PORT = 8090;

export interface ControlWork {
  /** Asks the platform. @throws AppError as {@link control} does. */
  readonly ask: <Name extends ControlName>(name: Name, request: ControlRequest<Name>) => Promise<ControlAnswer<Name>>;
  readonly colors: ReturnType<typeof pc.createColors>;
  /** Prints `data` as JSON with `--json`, otherwise the text. */
  readonly show: (data: unknown, text: string) => void;
}

/** Adds the shared options to a command. */
export function controlCommand(command: Command, example: string): Command {
  return command
    .option('--port <n>', `port of the platform (default: ${String(PLATFORM_PORT)})`, portNumber)
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  $ parley platform ${example}`);
}

export function controlWork(command: Command): ControlWork {
  const port = portOf(command);
  const output = command.configureOutput();
  // `--json` counts before and after the sub-command: `parley platform --json status` and `parley platform status --json`.
  const isJson = [command, command.parent].some((one) => one?.getOptionValue('json') === true);
  return {
    ask: (name, request) => control(port, name, request),
    colors: pc.createColors(output.getOutHasColors?.() ?? false),
    show: (data, text) => output.writeOut?.(isJson ? `${JSON.stringify(data, null, 2)}\n` : `${text.trimEnd()}\n`),
  };
}

/** Parses a port. @throws InvalidArgumentError for anything else. */
export const portNumber = wholeNumberFrom(0, 65_535);

function portOf(command: Command): number {
  for (const one of [command, command.parent]) {
    const given: unknown = one?.getOptionValue('port');
    if (typeof given === 'number') return given;
  }
  return PLATFORM_PORT;
}
