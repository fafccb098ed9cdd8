// Organizations as text and as JSON.
import type { Lifetimes } from '../../admin/access.ts';
import type { KeptOrganization } from '../../admin/kept-organizations.ts';
import { endText, isoTime } from './time-text.ts';

export interface OrganizationView extends KeptOrganization {
  /** Whether admin.organizations lists the organization. */
  readonly isConfigured: boolean;
}

/** Headings of {@link organizationRow}. */
export const ORGANIZATION_HEADINGS = ['ORGANIZATION', 'AUTHORIZED', 'TOKEN', 'DATA SOURCES'];

export function organizationRow(view: OrganizationView, nowMs: number): readonly string[] {
  const { organizationId, tokens, dataSources } = view;
  const ids = dataSources.map(({ transport, dataSourceId }) => `${transport} ${dataSourceId ?? 'not registered yet'}`);
  return [
    organizationId,
    authorizationText(view),
    tokens === undefined ? 'none' : tokenText(tokens.expiresAtMs, nowMs),
    ids.length === 0 ? 'none' : `${String(ids.length)}: ${ids.join(', ')}`,
  ];
}

/** All details of one organization, as rows of name and value. */
export function organizationMembers(view: OrganizationView, nowMs: number): readonly (readonly string[])[] {
  const { organizationId, event, tokens, dataSources } = view;
  return [
    ['organization', organizationId],
    ['authorized', authorizationText(view)],
    ...(event?.isOpen === true ? [['its event', 'has had no effect yet: a running server goes on with it']] : []),
    ['access token', tokens === undefined ? 'none is kept' : tokenText(tokens.expiresAtMs, nowMs)],
    ...(tokens === undefined ? [] : [['refresh token', refreshText(tokens, nowMs)]]),
    ...(dataSources.length === 0 ? [['data sources', 'none is managed']] : []),
    ...dataSources.flatMap(({ transport, dataSourceId, tokenEndsMs, isRenewalOpen }) => [
      [`${transport} data source`, dataSourceId ?? 'not registered yet'],
      ['its token', tokenEndsMs === undefined ? 'with no known end' : tokenText(tokenEndsMs, nowMs)],
      ...(isRenewalOpen ? [['its renewal', 'was begun, and nobody knows yet what became of it: a server goes on with it']] : []),
    ]),
  ];
}

/** The JSON form. Unknown times are null. */
export function organizationData({ organizationId, isConfigured, event, tokens, dataSources }: OrganizationView): object {
  return {
    organizationId,
    isConfigured,
    event:
      event === undefined ? null : { isAuthorized: event.isAuthorized, authorizedAt: isoTime(event.authorizedAtMs), isOpen: event.isOpen },
    tokens:
      tokens === undefined
        ? null
        : { accessTokenEnds: isoTime(tokens.expiresAtMs), refreshTokenEnds: timeOrNull(tokens.refreshExpiresAtMs) },
    dataSources: dataSources.map(({ transport, dataSourceId = null, tokenEndsMs, isRenewalOpen }) => ({
      ...{ transport, dataSourceId, isRenewalOpen },
      tokenEnds: timeOrNull(tokenEndsMs),
    })),
  };
}

/** The line of counts below the table. */
export function summaryOf(views: readonly OrganizationView[]): string {
  const authorized = views.filter(({ event, isConfigured }) => isConfigured || event?.isAuthorized === true).length;
  const withToken = views.filter(({ tokens }) => tokens !== undefined).length;
  const dataSources = views.reduce((sum, view) => sum + view.dataSources.length, 0);
  const known = [counted(views.length, 'organization'), `${String(authorized)} authorized`, `${String(withToken)} with a token`];
  return `${[...known, counted(dataSources, 'data source')].join(', ')}\n`;
}

/** What was erased, and its consequences. */
export function erasedText({ organizationId, event, tokens, dataSources, isConfigured }: OrganizationView): string {
  const things = [
    ...(tokens === undefined ? [] : ['its tokens']),
    ...dataSources.map(
      ({ transport, dataSourceId }) => `the nonces of its ${transport} data source${dataSourceId === undefined ? '' : ` ${dataSourceId}`}`,
    ),
    ...(event === undefined ? [] : ['its event']),
  ];
  const erased = things.length === 0 ? 'nothing was kept' : `erased ${things.join(', ')}`;
  const again = isConfigured
    ? 'It stands in admin.organizations: the next start of the server begins with it again.'
    : 'A server begins with it again when the platform says that it has authorized the app.';
  return `organization ${organizationId}: ${erased}\n${again}\nNothing was changed at the platform: its authorization and its data sources stand there as before.\n`;
}

function authorizationText({ event, isConfigured }: OrganizationView): string {
  const parts = [
    ...(event?.isAuthorized === true ? [`since ${isoTime(event.authorizedAtMs)} by webhook`] : []),
    ...(isConfigured ? ['by configuration'] : []),
    ...(event?.isAuthorized === false ? ['taken back by webhook'] : []),
  ];
  return parts.length === 0 ? 'not known' : parts.join(', ');
}

function refreshText({ isRefreshable, refreshExpiresAtMs }: Lifetimes, nowMs: number): string {
  if (!isRefreshable) return 'none is kept';
  return refreshExpiresAtMs === undefined ? 'kept, with no known end' : tokenText(refreshExpiresAtMs, nowMs);
}

function tokenText(endMs: number, nowMs: number): string {
  return `${endMs <= nowMs ? 'ended' : 'until'} ${endText(endMs, nowMs)}`;
}

function timeOrNull(atMs: number | undefined): string | null {
  return atMs === undefined ? null : isoTime(atMs);
}

function counted(count: number, name: string): string {
  return `${String(count)} ${name}${count === 1 ? '' : 's'}`;
}
