// `parley admin`: the platform's administration. Each group of commands has its own file.
import { Command } from 'commander';
import { dataSourcesGroup } from './admin/data-sources.ts';
import { loginCommand } from './admin/login.ts';
import { orgsGroup } from './admin/orgs.ts';
import { personAt, type Person } from './admin/person.ts';
import { scopesCommand } from './admin/scopes.ts';
import { schemasGroup } from './admin/schemas.ts';
import { tokenGroup } from './admin/token.ts';
import { webhooksGroup } from './admin/webhooks.ts';

/** The command with all its sub-commands. @param person - answers questions and sees messages beside the output. */
export function adminGroup(person: Person = personAt()): Command {
  const group = new Command('admin')
    .description('log in to the platform and manage organizations, data sources and webhooks')
    .addHelpText('after', '\nExample:\n  $ parley admin login --config my.yaml\n  $ parley admin orgs list --config my.yaml');
  for (const part of [dataSourcesGroup(person), schemasGroup(), scopesCommand(), webhooksGroup(person)]) group.addCommand(part);
  for (const part of [loginCommand(person), orgsGroup(person), tokenGroup(person)]) group.addCommand(part);
  return throwing(group);
}

/** Makes a command and its sub-commands throw where Commander would end the process. */
function throwing(command: Command): Command {
  command.commands.forEach(throwing);
  return command.exitOverride();
}
