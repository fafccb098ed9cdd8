// `parley calls delete`: deletes a recording.
import { Command } from 'commander';
import { EXIT } from '../../base/terminal/failure.ts';
import type { Person } from '../admin/person.ts';
import { audit } from '../opened-recording.ts';
import { neededOperand } from '../settings-arguments.ts';
import { callsCommand, complainOf, print, recordingsOf } from './recordings.ts';

export function deleteCommand(person: Person): Command {
  const command = callsCommand(new Command('delete'), 'delete 20261128T172234-5f0c19ab --yes --config my.yaml')
    .description('delete a recorded call')
    .argument('<call>', 'id of a recording, or conversation id of a call (its newest recording)')
    .option('--yes', 'do not ask');
  return command.action(async (_call: string, { yes }: { readonly yes?: true }) => {
    const { folder } = recordingsOf(command);
    const id = await folder.find(neededOperand(command));
    if (yes !== true && !person.isThere) command.error('error: nobody is there to be asked: add --yes', { exitCode: EXIT.usage });
    if (yes !== true && !(await person.confirms(`Really delete the recording ${id}?`, new AbortController().signal))) {
      process.exitCode = EXIT.failed;
      return;
    }
    await folder.delete(id);
    audit({ event: 'recording_deleted', recording: id }, complainOf(command));
    print(command, { id }, `deleted  ${id}`);
  });
}
