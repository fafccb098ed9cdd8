// Maps the operator's settings to the options of the admin room. Opens nothing.
import type { AccessSettings } from '../admin/access.ts';
import type { WantedDataSource } from '../admin/lifecycle/ports.ts';
import type { LifecycleTimes } from '../admin/lifecycle/schedule.ts';
import { decodeId } from '../admin/platform-id.ts';
import type { TokenTransport } from '../auth/principal.ts';
import { AppError } from '../base/errors.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { Seal } from '../store/seal.ts';
import { sealKeys } from './changing-secrets.ts';
import type { Settings } from './config/settings.ts';

export type AdminSettings = Settings['admin'];

/** The seal of the store: the first key seals, every key opens. */
export function openSeal({ store }: Pick<AdminSettings, 'store'>): Seal {
  return new Seal(...sealKeys(store.keys));
}

/** The only data sources that may be used. */
export function pinnedDataSources({ dataSources }: AdminSettings, { ids }: PlatformProfile) {
  return dataSources.pinned.map(({ organizationId, transport, id }) => ({
    organizationId: decodeId(organizationId, 'ORGANIZATION', ids?.urnScheme ?? ''),
    transport,
    pinnedId: id,
  }));
}

/** Intervals for renewing, checking and retrying data sources. */
export function dataSourceTimes({ dataSources }: AdminSettings): LifecycleTimes {
  return {
    leadMs: dataSources.renewalLeadMinutes * 60_000,
    retryMs: dataSources.retryIntervalS * 1000,
    checkMs: dataSources.checkIntervalS * 1000,
  };
}

/**
 * The data sources that each organization must have: one for each transport (W-04).
 *
 * @throws AppError `config_invalid` when a value is missing in the settings and in the profile.
 */
export function wantedDataSources(
  { dataSources }: AdminSettings,
  { defaults, schemas, name }: PlatformProfile,
): readonly Omit<WantedDataSource, 'organizationId' | 'applicationId' | 'pinnedId'>[] {
  const { audience = defaults?.audience, subject = defaults?.subject, tokenLifetimeMinutes } = dataSources;
  return dataSources.transports.map((transport) => {
    const { key, url } = addressOf(dataSources, transport);
    if (url === undefined || audience === undefined || subject === undefined) {
      const mend = `set ${key}, admin.data_sources.audience and admin.data_sources.subject`;
      throw new AppError(
        'config_invalid',
        `a data source needs an address, an audience and a subject, and "${name}" proposes none: ${mend}`,
      );
    }
    return { transport, url, audience, subject, tokenLifetimeMinutes, schemaId: schemas[transport] };
  });
}

/** The two transports need addresses of different forms (W-03). */
function addressOf({ url, websocketUrl }: AdminSettings['dataSources'], transport: TokenTransport) {
  return transport === 'grpc' ? { key: 'admin.data_sources.url', url } : { key: 'admin.data_sources.websocket_url', url: websocketUrl };
}

/** The access settings: how tokens are obtained, with the credentials. */
export function accessSettings({ login, integration, serviceApp, oauth, staticToken, organizations }: AdminSettings): AccessSettings {
  if (login === 'static_token') return { type: login, accessToken: there(staticToken.accessToken) };
  if (login === 'oauth_refresh') {
    return { type: login, client: clientOf(oauth), refreshToken: there(oauth.refreshToken), organization: there(organizations[0]) };
  }
  const { redirectUri } = integration;
  return { type: login, integration: { ...clientOf(integration), redirectUri }, serviceApp: clientOf(serviceApp) };
}

function clientOf({ clientId, clientSecret }: AdminSettings['serviceApp']) {
  return { clientId: there(clientId), clientSecret: there(clientSecret) };
}

/** Narrows a value that a rule between settings guarantees. */
function there(value: string | undefined): string {
  if (value === undefined) throw new AppError('internal', 'the administration lacks a credential or its organization');
  return value;
}
