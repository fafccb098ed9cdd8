// The administration with the operator's settings: opens the store of its credentials, and tells metrics and log what
// happens. Log lines hold ids and error codes, never a token, nonce or secret.
import type { AccessSettings } from '../admin/access.ts';
import { Administration, type AdministrationObserver } from '../admin/administration.ts';
import type { DataSourceState } from '../admin/lifecycle/data-source-keeper.ts';
import type { Trust } from '../admin/lifecycle/ports.ts';
import { alarmDueMs, type LifecycleTimes } from '../admin/lifecycle/schedule.ts';
import { decodeId } from '../admin/platform-id.ts';
import { linkAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Logger } from '../base/log.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { DurableStore } from '../store/durable-store.ts';
import { Seal } from '../store/seal.ts';
import type { AdminMetrics, WatchedDataSource } from '../telemetry/admin-metrics.ts';
import type { Settings } from './config/settings.ts';

type AdminSettings = Settings['admin'];

/** Longest first look at webhooks and data sources, ms. */
const START_LIMIT_MS = 180_000;

/** What the administration is joined to. */
export interface AdministrationParts {
  readonly profile: PlatformProfile;
  /** Filled from now on. */
  readonly trust: Trust;
  readonly metrics: AdminMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
}

/**
 * Starts it. Resolves when the data sources of all known organizations have been looked after once (L-01).
 *
 * @throws AppError `store_failed`, `listen_failed`, `config_invalid`, `profile_invalid`, and with admin.fail_startup what
 *   the first look failed with.
 */
export async function startAdministration(admin: AdminSettings, parts: AdministrationParts): Promise<void> {
  const { profile, trust, metrics, clock, log, lifecycle } = parts;
  const seal = new Seal(...admin.store.keys.map((key) => Buffer.from(key, 'hex')));
  const onLost = (error: AppError): void => {
    log.error({ event: 'admin_store_lost', err: error }, 'another process has taken the store of the administration');
  };
  const store = await DurableStore.open({ file: admin.store.file, seal, onLost });
  lifecycle.opened('store of the administration', () => store.close());
  const { dataSources, webhooks } = admin;
  const times = {
    leadMs: dataSources.renewalLeadMinutes * 60_000,
    retryMs: dataSources.retryIntervalS * 1000,
    checkMs: dataSources.checkIntervalS * 1000,
  };
  const { targetUrl, ...where } = webhooks;
  const scheme = profile.ids?.urnScheme ?? '';
  const administration = new Administration({
    ...{ profile, trust, store, clock, log, times },
    baseUrl: admin.baseUrl,
    access: accessOf(admin),
    webhooks: targetUrl === undefined ? undefined : { targetUrl, ...where },
    organizations: admin.organizations,
    wanted: wantedOf(dataSources, profile),
    pinned: dataSources.pinned.map(({ organizationId, transport, id }) => ({
      organizationId: decodeId(organizationId, 'ORGANIZATION', scheme),
      transport,
      pinnedId: id,
    })),
    failsStart: admin.failStartup,
    observer: observerOf(metrics, log),
  });
  lifecycle.opened('administration', () => administration.close());
  metrics.watch(
    () => administration.states.map((state) => watched(state, times, clock.nowMs())),
    () => clock.nowMs(),
  );
  const starting = linkAbort();
  const cancel = clock.after(START_LIMIT_MS, () => {
    starting.abort('deadline');
  });
  try {
    await administration.start(starting.signal);
  } finally {
    cancel();
    starting.dispose();
  }
}

function wantedOf(dataSources: AdminSettings['dataSources'], { defaults, schemas, name }: PlatformProfile) {
  const { url, audience = defaults?.audience, subject = defaults?.subject, tokenLifetimeMinutes } = dataSources;
  if (url === undefined || audience === undefined || subject === undefined) {
    const mend = 'set admin.data_sources.url, admin.data_sources.audience and admin.data_sources.subject';
    throw new AppError('config_invalid', `a data source needs an address, an audience and a subject, and "${name}" proposes none: ${mend}`);
  }
  return dataSources.transports.map((transport) => ({
    ...{ transport, url, audience, subject, tokenLifetimeMinutes },
    schemaId: schemas[transport],
  }));
}

function accessOf({ login, integration, serviceApp, oauth, staticToken }: AdminSettings): AccessSettings {
  if (login === 'static_token') return { type: login, accessToken: there(staticToken.accessToken) };
  if (login === 'oauth_refresh') return { type: login, client: clientOf(oauth), refreshToken: there(oauth.refreshToken) };
  const { redirectUri } = integration;
  return { type: login, integration: { ...clientOf(integration), redirectUri }, serviceApp: clientOf(serviceApp) };
}

function clientOf({ clientId, clientSecret }: AdminSettings['serviceApp']) {
  return { clientId: there(clientId), clientSecret: there(clientSecret) };
}

/** A rule between settings has refused a missing one already. */
function there(value: string | undefined): string {
  if (value === undefined) throw new AppError('internal', 'the administration lacks a credential');
  return value;
}

function watched({ wanted, isServed, expiresAtMs, error }: DataSourceState, times: LifecycleTimes, nowMs: number): WatchedDataSource {
  const isOverdue = expiresAtMs !== undefined && nowMs >= alarmDueMs(expiresAtMs, wanted.tokenLifetimeMinutes * 60_000, times);
  return {
    transport: wanted.transport,
    isServed,
    expiresAtMs,
    isAlarming: isOverdue || !isServed || error?.code === 'data_source_unclear',
  };
}

function observerOf(metrics: AdminMetrics, log: Logger): AdministrationObserver {
  return {
    dataSourceChanged: ({ transition, error, ...about }) => {
      metrics.dataSourceChanged(about.transport, transition);
      const line = { event: 'data_source', transition, ...about, ...(error === undefined ? {} : { err: error }) };
      if (transition === 'overdue') log.error(line, 'a token was not renewed in time');
      else if (transition === 'failed') log.warn(line, 'a look after a data source failed and is repeated');
      else log.info(line, `data source ${transition}`);
    },
    delivered: (outcome, { organizationId, error }) => {
      metrics.delivered(outcome);
      const line = { event: 'webhook_delivery', outcome, organizationId, ...(error === undefined ? {} : { err: error }) };
      // Strangers may send as many as they like: the counter tells of them.
      if (outcome === 'unsigned' || outcome === 'foreign') log.debug(line, 'a delivery was refused');
      else log.info(line, 'a delivery arrived');
    },
    registered: ({ event: webhook, outcome, webhookId, error }) => {
      metrics.registered(webhook, outcome);
      const line = { event: 'webhook_registration', webhook, outcome, webhookId, ...(error === undefined ? {} : { err: error }) };
      if (outcome === 'failed' || outcome === 'duplicate') log.warn(line, 'a registration of a webhook is not as it should be');
      else if (outcome !== 'kept') log.info(line, `webhook ${outcome}`);
    },
    eventFailed: (organizationId, webhook, error) => {
      metrics.eventFailed(webhook);
      log.warn({ event: 'authorization_event', webhook, organizationId, err: error }, 'an event could not have its effect yet');
    },
    unsaved: (error) => {
      log.error({ event: 'nonces_unsaved', err: error }, 'the nonces of a data source could not be saved');
    },
  };
}
