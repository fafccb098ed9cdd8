// Wrong usage that is found after the options were read: one line on the standard error and the exit code for it.
import type { Command } from 'commander';
import { EXIT } from './failure.ts';

/**
 * Makes the end of a command for whatever is thrown while it looks at what it was given: a RangeError, whose message is a
 * sentence for the user, ends it as wrong usage; anything else is thrown on.
 */
export function misuseOf(command: Command): (thrown: unknown) => never {
  return (thrown) => {
    if (thrown instanceof RangeError) return command.error(`error: ${thrown.message}`, { exitCode: EXIT.usage });
    throw thrown;
  };
}
