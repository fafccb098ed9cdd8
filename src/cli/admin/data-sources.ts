// `parley admin data-sources`: the data sources of organizations at the platform. Looking at them and changing them have a
// file each.
import { Command } from 'commander';
import { createCommand, deleteCommand, renewCommand, updateCommand } from './data-source-changes.ts';
import { getCommand, listCommand } from './data-source-looks.ts';
import type { Person } from './person.ts';

/** The group. */
export function dataSourcesGroup(person: Person): Command {
  const group = new Command('data-sources')
    .description('look at the data sources of organizations, register, change, renew and delete them')
    .addHelpText('after', '\nExample:\n  $ parley admin data-sources list --config my.yaml');
  const looks = [listCommand(), getCommand()];
  const changes = [createCommand(), updateCommand(), renewCommand(), deleteCommand(person)];
  for (const part of [...looks, ...changes]) group.addCommand(part);
  return group;
}
