// Collects from the operator's settings what the doctor examines: organizations, data sources, the token check and the platform. Changes
// nothing: a server may be running.
import type {
  DoctorContext,
  ExaminedScopes,
  ExaminedDataSource,
  ExaminedOrganization,
  ExaminedStore,
  ExaminedWebhooks,
} from '../admin/doctor/context.ts';
import { journalKey, NonceJournal, type KnownNonces } from '../admin/lifecycle/nonce-journal.ts';
import { areSameValues, valuesOf, type RegisteredValues } from '../admin/lifecycle/registered-values.ts';
import { ServedDataSource } from '../admin/lifecycle/served-data-source.ts';
import { probeDelivery } from '../admin/doctor/probes.ts';
import { requestTargetOf } from '../admin/doctor/subject.ts';
import { wantedIn } from '../admin/lifecycle/wanted.ts';
import { INTEGRATION_KEY } from '../admin/oauth/integration-tokens.ts';
import { tokensKey } from '../admin/organizations.ts';
import type { SecretStore } from '../admin/secret-store.ts';
import { isSameId } from '../admin/platform-id.ts';
import { MAX_TOKEN_LIFETIME_MINUTES } from '../admin/records.ts';
import { grantedScopes } from '../admin/tokens.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { loadBots } from '../bot/loader.ts';
import type { Catalog } from '../bot/catalog.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { openAdminAccess, organizationIdOf, type AdminAccess } from './admin-access.ts';
import { organizationsMeant } from './admin-data-sources.ts';
import { dataSourceTimes, pinnedDataSources, wantedDataSources } from './admin-settings.ts';
import { botsFolder } from './bot-folders.ts';
import type { Settings } from './config/settings.ts';
import { openCatalog, type OriginText } from './open-catalog.ts';
import { openTokenCheck } from './token-check.ts';
import { openTrust, type Trust } from './trust.ts';

export interface ExaminationParts {
  readonly settings: Settings;
  /** Describes the origin of a setting, for messages. */
  readonly originOf: OriginText;
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  readonly log: Logger;
  /** When set, only this organization is examined; any spelling. */
  readonly organization?: string | undefined;
  /** PEM certificates of authorities to trust in addition to Node's. */
  readonly authorities: readonly string[];
  /** Connects to the server at a registered address. */
  readonly server: Pick<DoctorContext, 'health' | 'listAgents'>;
}

/** The parts for an examination without a running server. */
export type PreflightParts = Pick<ExaminationParts, 'settings' | 'originOf' | 'profile' | 'clock' | 'log' | 'authorities'>;

/** Call `close`. */
export interface Examination {
  readonly context: DoctorContext;
  close(): Promise<void>;
}

/**
 * Prepares the examination. Sends no request yet.
 *
 * @throws AppError `config_invalid`, also when there is nothing to examine; `store_failed`, `profile_invalid`, `bad_message`.
 */
export async function openExamination(parts: ExaminationParts): Promise<Examination> {
  const { settings, profile, clock, log, authorities, server } = parts;
  const trust = openTrust(settings, profile, clock);
  const tokenCheck = openTokenCheck(settings, { profile, trust, clock, log });
  const { enabled } = settings.admin;
  let access: AdminAccess | undefined;
  const close = async (): Promise<void> => {
    tokenCheck.close();
    await access?.close();
  };
  try {
    access = enabled ? await openAdminAccess(settings.admin, { profile, clock, log, sharing: settings.store, purpose: 'read' }) : undefined;
    const managed = access === undefined ? NOTHING_MANAGED : await managedSide(parts, access, trust);
    const wanted = [...managed.wanted, ...staticDataSources(parts, managed.organizations ?? [])];
    if (!enabled && wanted.length === 0) throw nothingToExamine(parts);
    const { verifier, keys } = tokenCheck;
    const context = {
      ...{ profile, ...managed, wanted, verifier, keys, nonces: trust.nonces, times: dataSourceTimes(settings.admin) },
      ...{ authorities, ...server, store: storeOf(parts), socketPath: socketPathOf(parts), agents: agentsOf(parts) },
    };
    return { context, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

type ManagedSide = Pick<DoctorContext, 'organizations' | 'scopes' | 'addresses' | 'webhooks' | 'platformDate'> & {
  readonly wanted: readonly ExaminedDataSource[];
};

const NOTHING_MANAGED: ManagedSide = { organizations: undefined, wanted: [] };

/** Trusts the data sources that the administration has stored or would register, as a starting server does. */
async function managedSide(
  { settings: { admin }, profile, clock, organization, authorities }: ExaminationParts,
  access: AdminAccess,
  trust: Trust,
) {
  const { store, address } = access;
  const everywhere = {
    wanted: wantedDataSources(admin, profile),
    pinned: pinnedDataSources(admin, profile),
    applicationId: access.access.serviceApp?.applicationId,
  };
  const ids = await organizationsMeant(organization, { admin, access });
  const wanted = await Promise.all(
    ids
      .flatMap((id) => wantedIn(id, everywhere))
      .map(async (one): Promise<ExaminedDataSource> => {
        // The store is only read, so nothing can remain unsaved.
        const onUnsaved = (): void => undefined;
        const journal = await NonceJournal.open({ key: journalKey(one), store, configured: one, clock, onUnsaved });
        const knownId = one.pinnedId ?? journal.dataSourceId;
        if (knownId === undefined) return one;
        new ServedDataSource(one, trust).show(knownId, withConfigured(journal.known, one, clock));
        return { ...one, knownId };
      }),
  );
  const organizations = ids.map((id): ExaminedOrganization => ({
    id,
    isStored: async () => admin.login !== 'service_app' || (await store.get(tokensKey(id))) !== undefined,
    tokens: access.tokensOf(id),
    dataSources: access.dataSourcesOf(id),
  }));
  const platformDate = (signal: AbortSignal): Promise<string | null> => dateAt(address.baseUrl, signal);
  const scopes = admin.login === 'service_app' ? await scopesOf(ids, store, profile) : undefined;
  return { organizations, scopes, wanted, addresses: everywhere.wanted, webhooks: webhooksOf(admin, access, authorities), platformDate };
}

/** The granted scopes of the stored tokens, if known: those of the integration and of each organization. */
async function scopesOf(
  ids: readonly string[],
  store: Pick<SecretStore, 'get'>,
  { oauth }: PlatformProfile,
): Promise<readonly ExaminedScopes[]> {
  if (oauth === undefined) return [];
  const tokens = [
    { organizationId: undefined, needed: oauth.integrationScopes, key: INTEGRATION_KEY },
    ...ids.map((id) => ({ organizationId: id, needed: oauth.serviceAppScopes, key: tokensKey(id) })),
  ];
  const known: ExaminedScopes[] = [];
  for (const { key, ...about } of tokens) {
    const granted = await grantedScopes(store, key);
    if (granted !== undefined) known.push({ ...about, granted });
  }
  return known;
}

/** Adds the configured values: a server trusts them, too, once its check has found them on the platform. */
function withConfigured(known: KnownNonces, configured: RegisteredValues, clock: Clock): KnownNonces {
  const { current, replaced } = known;
  if (current === undefined || areSameValues(current.values, configured)) return known;
  const validUntilMs = current.validUntilMs ?? clock.nowMs() + MAX_TOKEN_LIFETIME_MINUTES * 60_000;
  return { ...known, replaced: [...replaced, { nonce: current.nonce, values: valuesOf(configured), validUntilMs }] };
}

function webhooksOf(
  { webhooks: { targetUrl } }: Settings['admin'],
  { access: { serviceApp } }: AdminAccess,
  authorities: readonly string[],
): ExaminedWebhooks | undefined {
  if (serviceApp === undefined || targetUrl === undefined) return undefined;
  const { api, applicationId } = serviceApp;
  const knock: ExaminedWebhooks['knock'] = (wait) => probeDelivery({ ...wait, ...requestTargetOf(targetUrl) }, authorities);
  return { list: (signal) => api.list(signal), knock, targetUrl, applicationId };
}

/** The Date header of any answer of the platform; null without an answer, because another check reports an unreachable platform. */
export async function dateAt(url: string, signal: AbortSignal): Promise<string | null> {
  try {
    const answer = await fetch(url, { method: 'HEAD', redirect: 'manual', signal });
    return answer.headers.get('date');
  } catch {
    return null;
  }
}

/** Data sources in the settings whose organizations are not managed here. Ids are compared by value (H-04). */
function staticDataSources(
  { settings: { auth }, profile, organization }: ExaminationParts,
  managed: readonly ExaminedOrganization[],
): readonly ExaminedDataSource[] {
  const isSame = (one: string, other: string): boolean =>
    one === other || isSameId(one, other, 'ORGANIZATION', profile.ids?.urnScheme ?? '');
  return auth.dataSources
    .filter(({ organizationId }) => organization === undefined || isSame(organizationId, organization))
    .filter(({ organizationId }) => managed.every(({ id }) => !isSame(id, organizationId)))
    .map(({ organizationId, transport, url, schemaId = profile.schemas[transport], audience, subject }) => ({
      ...{ organizationId, transport, url, schemaId, audience, subject },
      tokenLifetimeMinutes: MAX_TOKEN_LIFETIME_MINUTES,
    }));
}

/** @throws AppError `config_invalid` for an invalid organization id in the settings. */
function nothingToExamine({ organization, profile }: ExaminationParts): AppError {
  const what =
    organization === undefined
      ? 'auth.data_sources is empty'
      : `auth.data_sources has none of organization ${organizationIdOf(organization, profile)}`;
  return new AppError('config_invalid', `there is nothing to examine: admin.enabled is false, and ${what}`);
}

/** The Redis server that servers share; undefined without one. */
export function storeOf({ settings, clock, log }: Pick<ExaminationParts, 'settings' | 'clock' | 'log'>): ExaminedStore | undefined {
  const { store } = settings;
  if (store.kind === 'memory') return undefined;
  const { url, sentinels, sentinelName = '' } = store.redis;
  const examine = async () => {
    const { RedisConnection } = await import('../store/redis/connection.ts');
    const { examineRedis, redisClockFindings } = await import('./redis-examination.ts');
    const connection = await RedisConnection.open({ ...store.redis, clock, log });
    try {
      return [...(await examineRedis(connection, settings)), ...(await redisClockFindings(connection, clock))];
    } finally {
      await connection.close();
    }
  };
  return { place: sentinels.length === 0 ? url : `${sentinelName} of ${sentinels.join(', ')}`, examine };
}

/** The path of WebSocket calls below the registered address (W-01, W-02). */
function socketPathOf({ settings: { websocket }, profile }: ExaminationParts): string | undefined {
  return profile.websocket && `${websocket.pathPrefix ?? ''}${profile.websocket.voicePath}`;
}

/** Loads the bots when first needed. Usually a running server has them, and they are not needed. */
function agentsOf({ settings: { bots }, originOf }: ExaminationParts): DoctorContext['agents'] {
  let catalog: Promise<Catalog> | undefined;
  return async (organizationId) => {
    catalog ??= loadBots(botsFolder(bots)).then((loaded) => openCatalog(loaded, bots, originOf));
    return (await catalog).agents(organizationId).length;
  };
}
