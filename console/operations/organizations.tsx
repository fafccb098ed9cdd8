// What each organization did in the last day.
import type { OrganizationCalls } from '../../src/dialog/call-view.ts';
import type { ShownOrganizations } from '../../src/ops/console-api.ts';
import { usePolled } from './server-api.ts';
import { count, inWords } from './shown.ts';
import { Table } from './table.tsx';

const POLL_MS = 5000;
const MINUTE_MS = 60_000;

export function Organizations() {
  const { answer } = usePolled<ShownOrganizations>('organizations', POLL_MS);
  if (answer === undefined) return <p class="soft">Asking the servers…</p>;
  return (
    <Table
      name="Organizations"
      heads={['Organization', 'Calls now', 'Limit', 'New calls', 'Minutes', 'Transfers', 'Refused', 'Ends']}
      none={`No organization has called within ${String(answer.hours)} hours, or since the servers started.`}
      rows={answer.organizations.map((one) => ({ key: one.organizationId, cells: cellsOf(one) }))}
    />
  );
}

function cellsOf({ organizationId, openCalls, maxCalls, begun, durationMs, ends, refused }: OrganizationCalls) {
  const isFull = maxCalls > 0 && openCalls >= maxCalls;
  const refusals = countsText(refused);
  return [
    <code>{organizationId}</code>,
    <span class={isFull ? 'bad' : ''}>{count(openCalls)}</span>,
    maxCalls === 0 ? 'none' : count(maxCalls),
    count(begun),
    count(Math.round(durationMs / MINUTE_MS)),
    count(ends['bot_transfer'] ?? 0),
    refusals === '' ? '0' : <span class="bad">{refusals}</span>,
    countsText(ends),
  ];
}

/** The largest first. */
function countsText(counts: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return sorted.map(([name, times]) => `${inWords(name)} ${count(times)}`).join(', ');
}
