// The question before an irreversible action.
import type { Command } from 'commander';
import { EXIT } from '../../base/terminal/failure.ts';
import type { Person } from './person.ts';
import { INTERRUPTED, runWithAccess, type AccessOptions, type AccessWork } from './run.ts';

export interface ConfirmedWork {
  readonly person: Person;
  /** Completes "Really …?", such as `delete the data source 1`. @throws AppError when the action is impossible. */
  readonly what: (given: AccessWork) => string;
  readonly work: (given: AccessWork) => Promise<void>;
}

/**
 * Like {@link runWithAccess}, but only after `--yes` or a yes at the terminal. After a no, the exit code says that nothing was done.
 * @throws CommanderError before anything is opened, when `--yes` is missing and there is no terminal; with the exit code of wrong usage.
 */
export async function runConfirmed(
  command: Command,
  purpose: 'read' | 'change',
  { person, what, work }: ConfirmedWork,
  options?: AccessOptions,
): Promise<void> {
  const isSure = command.getOptionValue('yes') === true;
  if (!isSure && !person.isThere) command.error('error: nobody is there to be asked: add --yes', { exitCode: EXIT.usage });
  const confirmed = async (given: AccessWork): Promise<void> => {
    const question = `Really ${what(given)}?`;
    const { signal, output } = given;
    if (isSure || (await person.confirms(question, signal))) return work(given);
    output.note('nothing was done\n');
    process.exitCode = signal.reason === INTERRUPTED ? EXIT.interrupted : EXIT.failed;
  };
  await runWithAccess(command, purpose, confirmed, options);
}
