// Data sources as text: table rows, details, and the result of a change.
import type { DataSourceView } from '../../admin/manual/data-source-view.ts';
import type { DataSourceChange } from '../../admin/manual/organization-data-sources.ts';
import { endText } from './time-text.ts';

const OWNERS = { ours: 'ours', other_app: "another app's", unknown: 'unknown' } as const;

/** Headings of {@link dataSourceRow}. */
export const DATA_SOURCE_HEADINGS = ['ID', 'ORGANIZATION', 'TRANSPORT', 'STATUS', 'TOKEN ENDS', 'OWNER', 'IN USE', 'URL'];

export function dataSourceRow(view: DataSourceView, nowMs: number): readonly string[] {
  const { id, organizationId, transport = '-', status = '-', owner, isInUse, url = '-' } = view;
  return [id, organizationId, transport, status, tokenEnd(view, nowMs), OWNERS[owner], isInUse ? 'yes' : 'no', url];
}

/** Headings of {@link changeRow}. */
export const CHANGE_HEADINGS = ['DONE', 'ID', 'STATUS', 'TOKEN ENDS'];

export function changeRow({ outcome, dataSource }: DataSourceChange, nowMs: number): readonly string[] {
  return [outcome, dataSource.id, dataSource.status ?? '-', tokenEnd(dataSource, nowMs)];
}

/** All details of one data source, as rows of name and value. */
export function dataSourceMembers(view: DataSourceView, nowMs: number): readonly (readonly string[])[] {
  const { differences } = view;
  return [
    ['id', view.id],
    ['organization', view.organizationId],
    ['transport', view.transport ?? 'none that this platform profile knows'],
    ['schema', view.schemaId ?? '-'],
    ['url', view.url ?? '-'],
    ['audience', view.audience ?? '-'],
    ['subject', view.subject ?? '-'],
    ['token lifetime', view.tokenLifetimeMinutes === undefined ? '-' : `${String(view.tokenLifetimeMinutes)} minutes`],
    ['token ends', tokenEnd(view, nowMs)],
    ['status', view.status ?? '-'],
    ...(view.errorMessage === undefined ? [] : [['error message', view.errorMessage]]),
    ['owner', `${OWNERS[view.owner]}${view.applicationId === undefined ? '' : ` (${view.applicationId})`}`],
    ['created', [view.createdAt ?? '-', ...(view.createdBy === undefined ? [] : [`by ${view.createdBy}`])].join(' ')],
    ['updated', view.updatedAt ?? '-'],
    ['in use', view.isInUse ? 'yes: a server with this configuration takes it' : 'no: a server with this configuration does not take it'],
    ...(differences === undefined ? [['configuration', 'wants none of this transport']] : []),
    ...(differences?.length === 0 ? [['configuration', 'wants it as it is']] : []),
    ...(differences ?? []).map(({ member, is, wanted }) => ['differs', `${member} is ${is}, the configuration wants ${wanted}`]),
  ];
}

/** What follows from a change: what a server with this configuration will do, or that no calls come in. Undefined: nothing. */
export function consequenceOf({ outcome, dataSource }: DataSourceChange, nowMs: number): string | undefined {
  const { isInUse, differences = [], tokenExpiresAt, status } = dataSource;
  if (outcome === 'deleted')
    return isInUse ? 'a server with this configuration registers another one, unless the deleted one is pinned' : undefined;
  if (isInUse && differences.length > 0) {
    const members = differences.map(({ member }) => member).join(', ');
    return `a server with this configuration changes this back: ${members}`;
  }
  const hasEnded = tokenExpiresAt !== undefined && Date.parse(tokenExpiresAt) <= nowMs;
  return hasEnded && status === 'active'
    ? 'its token has ended, and no calls come in before it is renewed: `parley admin data-sources renew`'
    : undefined;
}

function tokenEnd({ tokenExpiresAt }: DataSourceView, nowMs: number): string {
  return tokenExpiresAt === undefined ? 'unknown' : endText(Date.parse(tokenExpiresAt), nowMs);
}
