// The data sources of organizations for one command: combines the settings with the open administration interface.
import { OrganizationDataSources } from '../admin/manual/organization-data-sources.ts';
import { KeptOrganizations } from '../admin/kept-organizations.ts';
import type { WantedDataSource } from '../admin/lifecycle/ports.ts';
import { wantedIn } from '../admin/lifecycle/wanted.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { organizationIdOf, type AdminAccess } from './admin-access.ts';
import { dataSourceTimes, pinnedDataSources, wantedDataSources, type AdminSettings } from './admin-settings.ts';

/**
 * The organizations that a command works on: the given one, or all in the configuration and the store.
 *
 * @param written - the organization's id in any spelling; undefined: all organizations.
 * @throws AppError `config_invalid` for an invalid id, and for another organization than the one that the tokens belong to.
 */
export async function organizationsMeant(
  written: string | undefined,
  { admin, access }: { readonly admin: AdminSettings; readonly access: AdminAccess },
): Promise<readonly string[]> {
  const { profile } = access;
  const configured = admin.organizations.map((each) => organizationIdOf(each, profile));
  if (admin.login === 'service_app') {
    return written === undefined ? knownOrganizations(configured, access) : [organizationIdOf(written, profile)];
  }
  if (written !== undefined && !configured.includes(organizationIdOf(written, profile))) {
    throw new AppError(
      'config_invalid',
      `with admin.login ${admin.login} the only organization is that of admin.organizations: ${configured.join(', ')}`,
    );
  }
  return configured;
}

/** The data sources that the configuration wants in one organization, given as a plain UUID. @throws AppError `config_invalid`. */
export function wantedDataSourcesIn(
  organizationId: string,
  { admin, access: { profile, access } }: { readonly admin: AdminSettings; readonly access: AdminAccess },
): readonly WantedDataSource[] {
  return wantedIn(organizationId, {
    wanted: wantedDataSources(admin, profile),
    pinned: pinnedDataSources(admin, profile),
    applicationId: access.serviceApp?.applicationId,
  });
}

/** The data sources of one organization, given as a plain UUID. @throws AppError `config_invalid`. */
export function openDataSources(
  organizationId: string,
  { admin, access, clock }: { readonly admin: AdminSettings; readonly access: AdminAccess; readonly clock: Clock },
): OrganizationDataSources {
  const { profile, store } = access;
  return new OrganizationDataSources({
    ...{ organizationId, store, clock },
    applicationId: access.access.serviceApp?.applicationId,
    api: access.dataSourcesOf(organizationId),
    wanted: wantedDataSourcesIn(organizationId, { admin, access }),
    schemas: profile.schemas,
    times: dataSourceTimes(admin),
  });
}

/** The organizations of the configuration and of the store, except those that have withdrawn their authorization. */
async function knownOrganizations(
  configured: readonly string[],
  { store, access }: Pick<AdminAccess, 'store' | 'access'>,
): Promise<readonly string[]> {
  const organizations = new KeptOrganizations(store, access);
  const kept = await Promise.all((await organizations.ids()).map((id) => organizations.get(id)));
  const left = new Set(kept.flatMap(({ event, organizationId }) => (event?.isAuthorized === false ? [organizationId] : [])));
  const known = new Set([...configured, ...kept.map(({ organizationId }) => organizationId)]);
  return [...known].filter((organizationId) => !left.has(organizationId));
}
