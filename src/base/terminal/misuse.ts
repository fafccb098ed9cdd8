// Wrong usage that is found after the options were read: one line on the standard error and the exit code for it.
import type { Command } from 'commander';
import { EXIT } from './failure.ts';

/**
 * Makes the error handler of a command. A RangeError, whose message is a sentence for the user, ends the command as wrong usage; other
 * errors are rethrown.
 */
export function misuseOf(command: Command): (thrown: unknown) => never {
  return (thrown) => {
    if (thrown instanceof RangeError) return command.error(`error: ${thrown.message}`, { exitCode: EXIT.usage });
    throw thrown;
  };
}
