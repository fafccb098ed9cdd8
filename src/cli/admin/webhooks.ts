// `parley admin webhooks`: the webhooks that notify us of authorizations of the service app.
import { Command } from 'commander';
import { AppWebhooks, type WebhookView } from '../../admin/manual/app-webhooks.ts';
import type { RegistrationChange } from '../../admin/webhooks/registration.ts';
import { AppError } from '../../base/errors.ts';
import { neededOperand } from '../settings-arguments.ts';
import { runConfirmed } from './confirmation.ts';
import type { Person } from './person.ts';
import { adminCommand, runWithAccess, type AccessWork } from './run.ts';

const OWNERS = { ours: 'ours', same_app: 'same app, elsewhere', other: 'other' } as const;
const HEADINGS = ['ID', 'NAME', 'RESOURCE', 'EVENT', 'STATUS', 'OWNER', 'OWNED BY', 'CREATED', 'FILTER', 'TARGET'];

export function webhooksGroup(person: Person): Command {
  const group = new Command('webhooks')
    .description('list the webhooks of the integration, register and mend those of the service app, delete one')
    .addHelpText('after', '\nExample:\n  $ parley admin webhooks list --config my.yaml');
  for (const part of [listCommand(), ensureCommand(), deleteCommand(person)]) group.addCommand(part);
  return group;
}

function listCommand(): Command {
  const command = adminCommand(new Command('list'), 'webhooks list --config my.yaml').description(
    'list the webhooks that the integration sees, and which of them are ours',
  );
  return command.action(async () => {
    await runWithAccess(command, 'read', async (given) => {
      const webhooks = await webhooksOf(given).list(given.signal);
      given.output.table(webhooks, HEADINGS, webhooks.map(rowOf), 'there are no webhooks');
    });
  });
}

function ensureCommand(): Command {
  const command = adminCommand(new Command('ensure'), 'webhooks ensure --config my.yaml').description(
    'register the webhooks of the service app and mend what is wrong with them; a running server does so by itself',
  );
  return command.action(async () => {
    await runWithAccess(command, 'change', async (given) => {
      const changes: RegistrationChange[] = [];
      try {
        await webhooksOf(given).ensure((change) => changes.push(change), given.signal);
      } finally {
        const done = changes.map(({ event, outcome, webhookId, error }) => ({ event, outcome, webhookId, error: error?.code }));
        const rows = done.map(({ event, outcome, webhookId = '-' }) => [outcome, event, webhookId]);
        if (done.length > 0) given.output.table(done, ['DONE', 'EVENT', 'ID'], rows, '');
      }
    });
  });
}

function deleteCommand(person: Person): Command {
  const command = adminCommand(new Command('delete'), 'webhooks delete $ID --yes --config my.yaml')
    .description('delete a webhook, and forget its secret when it was ours')
    .argument('<id>', 'of the webhook')
    .option('--yes', 'do not ask');
  return command.action(async () => {
    const id = neededOperand(command);
    await runConfirmed(command, 'read', {
      person,
      what: () => `delete the webhook ${id}`,
      work: async (given) => {
        const { output, signal } = given;
        const webhook = await webhooksOf(given).delete(id, signal);
        output.table({ outcome: 'deleted', webhook }, HEADINGS, [rowOf(webhook)], '');
        if (webhook.owner === 'ours') output.note('note: a server with this configuration registers another one\n');
      },
    });
  });
}

/** @throws AppError `config_invalid` unless `admin.login` is `service_app`: only a service app has webhooks. */
function webhooksOf({ access, admin }: AccessWork): AppWebhooks {
  const { store, isHeldElsewhere } = access;
  const app = access.access.serviceApp;
  if (app === undefined) {
    throw new AppError('config_invalid', `webhooks are those of a service app, and admin.login is ${admin.login}: set it to service_app`);
  }
  return new AppWebhooks({ app, store, isHeldElsewhere, targetUrl: admin.webhooks.targetUrl });
}

function rowOf(webhook: WebhookView): readonly string[] {
  const { id, name = '-', resource = '-', event = '-', status = '-', targetUrl = '-' } = webhook;
  const { owner, ownedBy = '-', created = '-', filter = '-' } = webhook;
  return [id, name, resource, event, status, OWNERS[owner], ownedBy, created, filter, targetUrl];
}
