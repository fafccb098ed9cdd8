// After how much silence the platform reports it where a server cannot say, as an option that every command with calls shares.
import type { Command } from 'commander';
import { wholeNumber } from './option-values.ts';

/** The option as it was given. */
export interface SilenceFlags {
  /** ms; 0 never. */
  readonly silenceAfter: number;
}

/** What the platform takes by itself (W-14), ms. */
const DEFAULT_MS = 5000;

/** Adds the option to a command. */
export function withSilenceOption(command: Command, more = ''): Command {
  return command.option(
    '--silence-after <ms>',
    `report silence after so long where the server cannot say when, on a WebSocket; 0 never${more}`,
    wholeNumber,
    DEFAULT_MS,
  );
}
