// `parley admin orgs`: the organizations in settings and store. Sends no request to the platform.
import { Command } from 'commander';
import { organizationIdOf } from '../../app/admin-access.ts';
import { KeptOrganizations } from '../../admin/kept-organizations.ts';
import { AppError } from '../../base/errors.ts';
import { alignedRows } from '../../base/terminal/table.ts';
import { runConfirmed } from './confirmation.ts';
import {
  erasedText,
  organizationData,
  organizationMembers,
  organizationRow,
  ORGANIZATION_HEADINGS,
  summaryOf,
} from './organization-text.ts';
import type { Person } from './person.ts';
import { adminCommand, runWithAccess, type AccessWork } from './run.ts';

const NOTHING = 'no organization is known: admin.organizations is empty, and no webhook has said that one authorized the app';

/** The command with its sub-commands. @param person - confirms. */
export function orgsGroup(person: Person): Command {
  const group = new Command('orgs').description('what is known of organizations: authorizations, kept tokens, data sources');
  for (const part of [listCommand(), showCommand(), forgetCommand(person)]) group.addCommand(part);
  return group;
}

function listCommand(): Command {
  const command = adminCommand(new Command('list'), 'orgs list --config my.yaml')
    .description('list the organizations that settings and store know; works while a server runs, and asks the platform for nothing')
    .action(() =>
      runWithAccess(command, 'read', async (given) => {
        const { clock, output } = given;
        const configured = configuredIn(given);
        const organizations = keptIn(given);
        const ids = [...new Set([...configured, ...(await organizations.ids())])].sort();
        const views = [];
        for (const id of ids) views.push({ ...(await organizations.get(id)), isConfigured: configured.includes(id) });
        const rows = views.map((view) => organizationRow(view, clock.nowMs()));
        const text = `${alignedRows([ORGANIZATION_HEADINGS, ...rows])}\n${summaryOf(views)}`;
        output.show(views.map(organizationData), views.length === 0 ? NOTHING : text);
      }),
    );
  return command;
}

function showCommand(): Command {
  const command = adminCommand(new Command('show'), 'orgs show ce861fba-6e2f-49f9-9a84-b354008fac9e --config my.yaml')
    .description('show what is known of one organization; works while a server runs, and asks the platform for nothing')
    .argument('<org>', 'its UUID, or its encoded id')
    .action((written: string) =>
      runWithAccess(command, 'read', async (given) => {
        const { clock, output, profile } = given;
        const id = organizationIdOf(written, profile);
        const view = { ...(await keptIn(given).get(id)), isConfigured: configuredIn(given).includes(id) };
        const { event, tokens, dataSources, isConfigured } = view;
        if (!isConfigured && event === undefined && tokens === undefined && dataSources.length === 0) {
          throw new AppError('org_not_registered', `nothing is known of organization ${id}`);
        }
        output.show(organizationData(view), alignedRows(organizationMembers(view, clock.nowMs())));
      }),
    );
  return command;
}

function forgetCommand(person: Person): Command {
  const command = adminCommand(new Command('forget'), 'orgs forget ce861fba-6e2f-49f9-9a84-b354008fac9e --yes --config my.yaml')
    .description(
      'erase tokens, nonces and the kept event of one organization; no server may run meanwhile, and nothing changes at the platform',
    )
    .argument('<org>', 'its UUID, or its encoded id')
    .option('--yes', 'do not ask')
    .action(async (written: string) => {
      const idIn = ({ profile }: AccessWork): string => organizationIdOf(written, profile);
      const forget = async (given: AccessWork): Promise<void> => {
        const id = idIn(given);
        const erased = { ...(await keptIn(given).forget(id)), isConfigured: configuredIn(given).includes(id) };
        given.output.show({ erased: organizationData(erased) }, erasedText(erased));
      };
      const what = (given: AccessWork): string => `erase tokens, nonces and event of organization ${idIn(given)}`;
      const ifHeld = 'stop it first; a server forgets by itself whoever takes the authorization back';
      await runConfirmed(command, 'change', { person, what, work: forget }, { ifHeld });
    });
  return command;
}

function keptIn({ access }: AccessWork): KeptOrganizations {
  return new KeptOrganizations(access.store, access.access);
}

/** Organizations of admin.organizations, as plain UUIDs. */
function configuredIn({ admin, profile }: AccessWork): readonly string[] {
  return admin.organizations.map((each) => organizationIdOf(each, profile));
}
