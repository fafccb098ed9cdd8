// `parley organizations`: asks a running server what each organization did in the last day.
import { Command } from 'commander';
import { loadSections } from '../app/config/load-settings.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { alignedRows } from '../base/terminal/table.ts';
import type { OrganizationCalls } from '../dialog/call-view.ts';
import type { ApiRefusal, ShownOrganizations } from '../ops/console-api.ts';
import { operationsOrigin } from './operations-origin.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';

/** Longest wait for the answer, ms. */
const LIMIT_MS = 5000;
const MINUTE_MS = 60_000;
const HEADINGS = ['ORGANIZATION', 'OPEN', 'LIMIT', 'CALLS', 'MINUTES', 'TRANSFERS', 'REFUSED', 'ENDS'];

/** The command. */
export function organizationsCommand(): Command {
  const command = acceptSettings(new Command('organizations'))
    .description('show what each organization did in the last day on all servers; asks the server on this machine')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ parley organizations --config my.yaml');
  return command.action(async ({ json }: { readonly json?: true }) => {
    const { ops } = loadSections({ argv: settingsArguments(command) }, 'ops').settings;
    const url = `${operationsOrigin(ops)}/api/organizations`;
    const { viewToken } = ops.console;
    const headers = viewToken === undefined ? {} : { authorization: `Bearer ${viewToken}` };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(LIMIT_MS), redirect: 'error' }).catch(() => undefined);
    const answer: unknown = await response?.json();
    const output = command.configureOutput();
    if (response?.ok !== true) {
      output.writeErr?.(`error  ${isRefusal(answer) ? answer.error : `nothing answers at ${url}`}\n`);
      process.exitCode = EXIT.failed;
      return;
    }
    // Expects a server of the version of this program.
    const shown = answer as ShownOrganizations;
    output.writeOut?.(json === true ? `${JSON.stringify(shown, null, 2)}\n` : textOf(shown));
  });
}

function textOf({ hours, organizations, silent }: ShownOrganizations): string {
  const table = organizations.length === 0 ? '' : alignedRows([HEADINGS, ...organizations.map(rowOf)]);
  const missing =
    silent.length === 0 ? '' : `no answer from ${silent.map(({ address }) => address).join(', ')}: what they know is missing\n`;
  return `${table}${String(organizations.length)} organizations with calls within ${String(hours)} hours, as far as the servers have run\n${missing}`;
}

function rowOf({ organizationId, openCalls, maxCalls, begun, durationMs, ends, refused }: OrganizationCalls): readonly string[] {
  return [
    organizationId === '' ? '(none)' : organizationId,
    ...[String(openCalls), maxCalls === 0 ? 'none' : String(maxCalls), String(begun), (durationMs / MINUTE_MS).toFixed(1)],
    ...[String(ends['bot_transfer'] ?? 0), countsText(refused), countsText(ends)],
  ];
}

/** Counts as text, the largest first. */
function countsText(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return parts.length === 0 ? '0' : parts.map(([name, count]) => `${name} ${String(count)}`).join(', ');
}

function isRefusal(answer: unknown): answer is ApiRefusal {
  return typeof answer === 'object' && answer !== null && 'error' in answer && typeof answer.error === 'string';
}
