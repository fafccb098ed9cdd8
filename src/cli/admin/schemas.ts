// `parley admin schemas`: the schemas that data sources can be registered with.
import { Command } from 'commander';
import { schemaView } from '../../admin/manual/data-source-view.ts';
import { organizationsMeant } from '../../app/admin-data-sources.ts';
import { AppError } from '../../base/errors.ts';
import { adminCommand, runWithAccess } from './run.ts';

export function schemasGroup(): Command {
  return new Command('schemas')
    .description('list the schemas of data sources')
    .addHelpText('after', '\nExample:\n  $ parley admin schemas list --config my.yaml')
    .addCommand(listCommand());
}

function listCommand(): Command {
  const command = adminCommand(new Command('list'), 'schemas list --config my.yaml')
    .description('list the schemas that the platform offers, and the transport of each by the platform profile')
    .option('--org <id>', 'ask with the token of this organization; default: the first one that is known');
  return command.action(async ({ org }: { org?: string }) => {
    await runWithAccess(command, 'read', async (given) => {
      const { access, profile, output, signal } = given;
      const [organizationId] = await organizationsMeant(org, given);
      // The request needs a token, and that of any organization will do.
      if (organizationId === undefined) throw new AppError('config_invalid', 'no organization is known: name one with --org');
      const schemas = (await access.schemasOf(organizationId).list(signal)).map((schema) => schemaView(schema, profile));
      const rows = schemas.map(
        ({ id, transport = '-', protocol = '-', serviceType = '-', appType = '-', createdAt = '-', name = '-', url = '-' }) => [
          ...[id, transport, protocol, serviceType, appType, createdAt],
          ...[name, url],
        ],
      );
      output.table(
        schemas,
        ['ID', 'TRANSPORT', 'PROTOCOL', 'SERVICE', 'APP TYPE', 'CREATED', 'NAME', 'URL'],
        rows,
        'the platform offers no schemas',
      );
    });
  });
}
