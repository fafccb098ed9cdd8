// Whether callers say again what was lost with a server, as an option that every command with calls shares.
import type { Command } from 'commander';

/** The option as it was given. */
export interface RepeatFlags {
  readonly repeatLostTurns?: true;
}

/** Adds the option to a command. */
export function withRepeatOption(command: Command): Command {
  return command.option(
    '--repeat-lost-turns',
    'say a turn again on another RPC when its own is lost, 3 times at most; on gRPC alone, and not known of the platform (default: the call fails)',
  );
}
