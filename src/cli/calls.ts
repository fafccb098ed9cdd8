// `parley calls`: the recordings of calls.
import { Command } from 'commander';
import { personAt, type Person } from './admin/person.ts';
import { deleteCommand } from './calls/delete.ts';
import { exportCommand } from './calls/export.ts';
import { listCommand } from './calls/list.ts';
import { listenCommand } from './calls/listen.ts';
import { showCommand } from './calls/show.ts';

/** The command. */
export function callsGroup(person: Person = personAt()): Command {
  const command = new Command('calls')
    .description('list, show, hear, export and delete recorded calls')
    .addHelpText(
      'after',
      '\nExample:\n  $ parley calls list --config my.yaml\n  $ parley calls show 20261128T172234-5f0c19ab --config my.yaml',
    );
  for (const part of [listCommand(), showCommand(), listenCommand(), exportCommand(), deleteCommand(person)])
    command.addCommand(part.exitOverride());
  return command;
}
