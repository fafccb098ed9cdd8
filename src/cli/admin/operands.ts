// The id that a command is about. Commander takes a flag of the settings for it when that stands first.
import type { Command } from 'commander';
import { EXIT } from '../../base/terminal/failure.ts';
import { operandsOf } from '../settings-arguments.ts';

/** The first operand. @throws CommanderError with the exit code of wrong usage when it is missing. */
export function neededOperand(command: Command): string {
  const [id] = operandsOf(command);
  return id ?? command.error('error: the id is missing; it stands before the flags of settings', { exitCode: EXIT.usage });
}
