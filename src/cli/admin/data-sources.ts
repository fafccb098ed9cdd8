// `parley admin data-sources`: the data sources of organizations on the platform, compared with the configuration. `list` and `get` work
// while a server runs; data-source-changes.ts has the commands that change something.
import { Command } from 'commander';
import { openDataSources, organizationsMeant } from '../../app/admin-data-sources.ts';
import { alignedRows } from '../../base/terminal/table.ts';
import { neededOperand } from '../settings-arguments.ts';
import { createCommand, deleteCommand, renewCommand, updateCommand } from './data-source-changes.ts';
import { DATA_SOURCE_HEADINGS, dataSourceMembers, dataSourceRow } from './data-source-text.ts';
import { dataSourcesOf, inEach } from './organizations-meant.ts';
import type { Person } from './person.ts';
import { adminCommand, runWithAccess } from './run.ts';

export function dataSourcesGroup(person: Person): Command {
  const group = new Command('data-sources')
    .description('show the data sources of organizations, register, change, renew and delete them')
    .addHelpText('after', '\nExample:\n  $ parley admin data-sources list --config my.yaml');
  const changes = [createCommand(), updateCommand(), renewCommand(), deleteCommand(person)];
  for (const part of [listCommand(), getCommand(), ...changes]) group.addCommand(part);
  return group;
}

/** `list`. Exit code 1 when the data sources of an organization could not be listed. */
function listCommand(): Command {
  const command = adminCommand(new Command('list'), 'data-sources list --config my.yaml')
    .description('list the data sources of the organizations that configuration and store know, also those of other apps')
    .option('--org <id>', 'only this organization');
  return command.action(async ({ org }: { org?: string }) => {
    await runWithAccess(command, 'read', async (given) => {
      const organizations = await organizationsMeant(org, given);
      const views = await inEach(organizations, given, (id) => openDataSources(id, given).list(given.signal));
      const rows = views.map((view) => dataSourceRow(view, given.clock.nowMs()));
      const nothing = organizations.length === 0 ? 'no organization is known: name one with --org' : 'there are no data sources';
      given.output.table(views, DATA_SOURCE_HEADINGS, rows, nothing);
    });
  });
}

function getCommand(): Command {
  const command = adminCommand(new Command('get'), 'data-sources get $ID --org $ORG --config my.yaml')
    .description('show a data source, and what about it is not as the configuration wants it')
    .argument('<id>', 'of the data source')
    .requiredOption('--org <id>', 'its organization')
    .option('--show-nonce', 'show its nonce, too: a secret');
  return command.action(async (_id: string, { org, showNonce = false }: { org: string; showNonce?: boolean }) => {
    const id = neededOperand(command);
    await runWithAccess(command, 'read', async (given) => {
      const dataSources = await dataSourcesOf(org, given);
      const view = await dataSources.get(id, given.signal);
      const nonce = showNonce ? { nonce: await dataSources.nonceOf(id, given.signal) } : {};
      const rows = [...dataSourceMembers(view, given.clock.nowMs()), ...Object.entries(nonce).map(([name, value = '-']) => [name, value])];
      given.output.show({ ...view, ...nonce }, alignedRows(rows));
    });
  });
}
