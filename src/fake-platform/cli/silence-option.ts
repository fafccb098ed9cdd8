// After how much silence the platform reports it where a server cannot say, as an option that every command with calls shares.
import type { Command } from 'commander';
import { PLATFORM_NO_INPUT_MS } from '../lines/wire-rules.ts';
import { wholeNumber } from '../../base/terminal/option-values.ts';

/** The option as it was given. */
export interface SilenceFlags {
  /** ms; 0 never. */
  readonly silenceAfter: number;
}

/** Adds the option to a command. */
export function withSilenceOption(command: Command, more = ''): Command {
  return command.option(
    '--silence-after <ms>',
    `report silence after so long where the server cannot say when, on a WebSocket; 0 never${more}`,
    wholeNumber,
    PLATFORM_NO_INPUT_MS,
  );
}
