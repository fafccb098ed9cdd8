// The question before something that cannot be taken back.
import type { Command } from 'commander';
import { EXIT } from '../../base/terminal/failure.ts';
import type { Person } from './person.ts';
import { INTERRUPTED, type AdminWork } from './run.ts';

/**
 * Refuses to go on without `--yes` when nobody can be asked; before anything is opened.
 *
 * @param what - completes the sentence, such as `delete the data source 1`.
 * @throws CommanderError with the exit code of wrong usage.
 */
export function demandAnswer(command: Command, what: string, person: Pick<Person, 'isThere'>): void {
  if (isSure(command) || person.isThere) return;
  command.error(`error: nobody is there to be asked: add --yes to ${what}`, { exitCode: EXIT.usage });
}

/**
 * Whether it is wanted: `--yes` says so, or whoever sits at the terminal. After a no the exit code says that nothing was done.
 *
 * @param what - completes the question, as in {@link demandAnswer}.
 */
export async function isConfirmed(
  command: Command,
  what: string,
  person: Pick<Person, 'confirms'>,
  { signal, output }: Pick<AdminWork, 'signal' | 'output'>,
): Promise<boolean> {
  if (isSure(command) || (await person.confirms(`Really ${what}?`, signal))) return true;
  output.note('nothing was done\n');
  process.exitCode = signal.reason === INTERRUPTED ? EXIT.interrupted : EXIT.failed;
  return false;
}

function isSure(command: Command): boolean {
  return command.getOptionValue('yes') === true;
}
