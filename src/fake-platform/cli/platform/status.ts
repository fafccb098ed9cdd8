// `parley platform status`: what the fake platform knows about organizations, data sources and webhooks.
import { Command } from 'commander';
import { shownText } from '../../../base/shown-text.ts';
import type { ControlAnswer } from '../../platform/control-wire.ts';
import { alignedRows } from '../../../base/terminal/table.ts';
import { controlCommand, controlWork } from './control-command.ts';

type Status = ControlAnswer<'status'>;

export function statusCommand(): Command {
  const command = new Command('status').description('show organizations, data sources with the end of their tokens, and webhooks');
  return controlCommand(command, 'status --json').action(async () => {
    const { ask, show, colors } = controlWork(command);
    const status = await ask('status', {});
    show(status, statusText(status, colors.bold));
  });
}

function statusText({ organizations, dataSources, webhooks, faults, skewMs }: Status, heading: (text: string) => string): string {
  const part = (title: string, headings: readonly string[], rows: readonly (readonly string[])[], nothing: string): string =>
    `${heading(title)}\n${rows.length === 0 ? `${nothing}\n` : alignedRows([headings, ...rows])}`;
  const parts = [
    part(
      'Organizations that have authorized the app',
      ['ORGANIZATION', 'SINCE'],
      organizations.map(({ organizationId, authorizedAt }) => [organizationId, authorizedAt]),
      'none: parley platform authorize ORG',
    ),
    part(
      'Data sources',
      ['ORGANIZATION', 'TRANSPORT', 'STATUS', 'TOKEN ENDS', 'ID', 'ADDRESS'],
      dataSources.map(({ organizationId, transport, status, errorMessage, tokenExpiryTime, id, url }) => {
        const why = errorMessage === '' ? '' : ` (${shownText(errorMessage)})`;
        return [organizationId, transport, status + why, tokenExpiryTime, id, shownText(url)];
      }),
      'none: the server registers one for each organization that authorizes the app',
    ),
    part(
      'Webhooks',
      ['EVENT', 'STATUS', 'ID', 'TARGET'],
      webhooks.map(({ event, status, id, targetUrl }) => [event, status, id, shownText(targetUrl)]),
      'none: the server registers them when it starts',
    ),
  ];
  if (faults.length > 0) {
    const rows = faults.map(({ kind, route, left }) => [kind, route, String(left)]);
    parts.push(part('To go wrong', ['WHAT', 'REQUEST', 'TIMES'], rows, ''));
  }
  if (skewMs !== 0) parts.push(`The platform's clock is wrong by ${String(skewMs / 1000)} s.\n`);
  return parts.join('\n');
}
