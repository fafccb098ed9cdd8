// `parley admin data-sources create`, `update`, `renew` and `delete`. An action that brings a new nonce needs the store for itself: a
// server that runs meanwhile would refuse the calls with that nonce.
import { Command, InvalidArgumentError, Option } from 'commander';
import { bringsToken, demandSound, type DataSourceChanges } from '../../admin/manual/data-source-changes.ts';
import type { DataSourceChange } from '../../admin/manual/organization-data-sources.ts';
import { MAX_TOKEN_LIFETIME_MINUTES } from '../../admin/records.ts';
import { openDataSources, organizationsMeant } from '../../app/admin-data-sources.ts';
import { AppError } from '../../base/errors.ts';
import { alignedRows } from '../../base/terminal/table.ts';
import { neededOperand, operandsOf } from '../settings-arguments.ts';
import { runConfirmed } from './confirmation.ts';
import { CHANGE_HEADINGS, changeRow, consequenceOf } from './data-source-text.ts';
import { dataSourcesOf, inEach } from './organizations-meant.ts';
import type { Person } from './person.ts';
import { adminCommand, runWithAccess, type AccessWork } from './run.ts';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/iu;

const FIELDS = 'schema (UUID), url, audience, subject, lifetime (minutes), nonce';
const SETTABLE = `${FIELDS}, status (active or disabled), message (why it is disabled)`;

const CHANGES: ReadonlyMap<string, (value: string) => DataSourceChanges> = new Map<string, (value: string) => DataSourceChanges>([
  ['url', (url) => ({ url: right(URL.canParse(url), url, 'The url is no address.') })],
  ['schema', (id) => ({ schemaId: right(UUID.test(id), id.toLowerCase(), 'A schema is a UUID.') })],
  ['nonce', (nonce) => ({ nonce })],
  ['audience', (audience) => ({ audience })],
  ['subject', (subject) => ({ subject })],
  ['message', (errorMessage) => ({ errorMessage })],
  ['lifetime', (text) => ({ tokenLifetimeMinutes: lifetimeOf(text) })],
  ['status', (status) => ({ status: status === 'active' || status === 'disabled' ? status : wrong('A status is active or disabled.') })],
]);

export function createCommand(): Command {
  const command = adminCommand(new Command('create'), 'data-sources create --org $ORG --config my.yaml')
    .description('register the data source that the configuration wants, or one of any schema; refused when one that fits is there')
    .requiredOption('--org <id>', 'the organization')
    .addOption(new Option('--transport <name>', 'for which transport').choices(['grpc', 'websocket']).default('grpc'))
    .option('--set <name=value...>', `otherwise than the configuration: ${FIELDS}`, changed);
  return command.action(async ({ org, transport, set }: { org: string; transport: 'grpc' | 'websocket'; set?: DataSourceChanges }) => {
    const created = async (given: AccessWork): Promise<void> => {
      const dataSources = await dataSourcesOf(org, given);
      show(
        await (set === undefined ? dataSources.create(transport, given.signal) : dataSources.createAs(transport, set, given.signal)),
        given,
      );
    };
    await runWithAccess(command, 'change', created, { asksForFirst: true });
  });
}

export function renewCommand(): Command {
  const command = adminCommand(new Command('renew'), 'data-sources renew --org $ORG --config my.yaml')
    .description('make fresh tokens, and put back what is not as the configuration wants it; a running server does so by itself')
    .argument('[id]', 'only this data source')
    .option('--org <id>', 'only this organization; needed with an id when several are known');
  return command.action(async (_id: string | undefined, { org }: { org?: string }) => {
    const [id] = operandsOf(command);
    await runWithAccess(command, 'change', async (given) => {
      const organizations = await organizationsMeant(org, given);
      if (id !== undefined && organizations.length > 1)
        throw new AppError('config_invalid', 'several organizations are known: name one with --org');
      const changes = await inEach(organizations, given, (each) => openDataSources(each, given).renew(id, given.signal));
      const rows = changes.map((change) => changeRow(change, given.clock.nowMs()));
      given.output.table(changes, CHANGE_HEADINGS, rows, 'there is nothing to renew');
    });
  });
}

export function updateCommand(): Command {
  const command = adminCommand(new Command('update'), 'data-sources update $ID --org $ORG --set status=disabled "message=We are moving"')
    .description('change a data source; everything but the status brings a fresh token')
    .argument('<id>', 'of the data source')
    .requiredOption('--org <id>', 'its organization')
    .requiredOption('--set <name=value...>', `what to change: ${SETTABLE}`, changed)
    .option('--yes', 'give a fresh token also to a data source that this configuration does not use');
  return command.action(async (_id: string, { org, set, yes = false }: { org: string; set: DataSourceChanges; yes?: boolean }) => {
    const id = neededOperand(command);
    demandSound(set);
    // A change of the status alone brings no nonce, so running servers go on accepting calls.
    await runWithAccess(command, bringsToken(set) ? 'change' : 'read', async (given) => {
      show(await (await dataSourcesOf(org, given)).update(id, set, yes, given.signal), given);
    });
  });
}

/** `delete`. @param person - answers the question when `--yes` is missing. */
export function deleteCommand(person: Person): Command {
  const command = adminCommand(new Command('delete'), 'data-sources delete $ID --org $ORG --yes --config my.yaml')
    .description('delete a data source: calls of the organization no longer reach its address')
    .argument('<id>', 'of the data source')
    .requiredOption('--org <id>', 'its organization')
    .option('--yes', 'do not ask');
  return command.action(async (_id: string, { org }: { org: string }) => {
    const id = neededOperand(command);
    await runConfirmed(command, 'read', {
      person,
      what: () => `delete the data source ${id}`,
      work: async (given) => {
        show(await (await dataSourcesOf(org, given)).delete(id, given.signal), given);
      },
    });
  });
}

function show(change: DataSourceChange, { output, clock }: AccessWork): void {
  output.show(change, alignedRows([CHANGE_HEADINGS, changeRow(change, clock.nowMs())]));
  const consequence = consequenceOf(change, clock.nowMs());
  if (consequence !== undefined) output.note(`note: ${consequence}\n`);
}

/** Adds one `name=value` to the changes before it. */
function changed(text: string, before: DataSourceChanges = {}): DataSourceChanges {
  const at = text.indexOf('=');
  const value = text.slice(at + 1);
  if (value === '') wrong('Write name=value.');
  const change = CHANGES.get(text.slice(0, Math.max(0, at))) ?? wrong(`What can be set: ${SETTABLE}.`);
  return { ...before, ...change(value) };
}

function lifetimeOf(text: string): number {
  const isRight = /^[1-9]\d{0,3}$/u.test(text) && Number(text) <= MAX_TOKEN_LIFETIME_MINUTES;
  return right(isRight, Number(text), `A lifetime is 1 to ${String(MAX_TOKEN_LIFETIME_MINUTES)} minutes (J-01).`);
}

function right<T>(isRight: boolean, value: T, otherwise: string): T {
  return isRight ? value : wrong(otherwise);
}

function wrong(why: string): never {
  throw new InvalidArgumentError(why);
}
