// Runs the administration with the operator's settings: opens the store of its credentials, and reports events to metrics and log. Log
// lines contain ids and error codes, never a token, nonce or secret.
import { Administration, type AdministrationObserver } from '../admin/administration.ts';
import type { AuthorizationHook } from '../admin/webhooks/authorization-result.ts';
import type { WebhookSettings } from '../admin/webhooks/webhook-side.ts';
import type { AppError, ErrorCode } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Live } from '../base/live-value.ts';
import type { TlsIdentity } from '../base/tls-identity.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { DurableStore } from '../store/durable-store.ts';
import type { AdminMetrics } from '../telemetry/admin-metrics.ts';
import { authorizationHooks } from './authorization-hooks.ts';
import { accessSettings, dataSourceTimes, openSeal, pinnedDataSources, wantedDataSources, type AdminSettings } from './admin-settings.ts';
import type { Settings } from './config/settings.ts';
import { isLoginDead, LoginWait } from './login-wait.ts';
import type { SharedAdministrationParts } from './shared-administration.ts';
import { watchedDataSource } from './watched-data-source.ts';
import { watchedStore } from './watched-store.ts';

export interface AdministrationParts extends Omit<SharedAdministrationParts, 'options' | 'hasOldKeys' | 'closeMs'> {
  readonly profile: PlatformProfile;
  /** TLS for the webhook endpoint. */
  readonly identity: Live<TlsIdentity> | undefined;
  /** The callback of an embedding program; undefined without one. */
  readonly onAuthorization: AuthorizationHook | undefined;
}

/**
 * Longest wait for `close`, ms, also with a shorter grace time. Longer than one token renewal, whose answer would be lost if the process
 * ended first.
 */
const CLOSE_MS = 20_000;

/**
 * Starts the administration. Resolves when tokens that were trusted before are trusted again (L-15), and with admin.fail_startup after the
 * first check of all known organizations (L-01). When several servers share a store, only one of them checks.
 *
 * @throws AppError `store_failed`, `store_unavailable`, `listen_failed`, `config_invalid`, `profile_invalid`, `shutting_down` when
 * `signal` aborts, and with admin.fail_startup the error of the first check.
 */
export async function startAdministration(
  { admin, store: sharing }: Pick<Settings, 'admin' | 'store'>,
  parts: AdministrationParts,
): Promise<Pick<Administration, 'rest'>> {
  const { profile, trust, identity, metrics, clock, log, lifecycle, signal, onAuthorization: callback } = parts;
  const times = dataSourceTimes(admin);
  const options = {
    ...{ profile, trust, clock, log, times },
    baseUrl: admin.baseUrl,
    access: accessSettings(admin),
    bufferSeconds: admin.tokenExpiryBufferS,
    hooks: { hooks: authorizationHooks(admin.authorizationHook, { clock, callback }), limitMs: admin.authorizationHook.timeoutMs },
    webhooks: webhookSettings(admin.webhooks, identity),
    organizations: admin.organizations,
    wanted: wantedDataSources(admin, profile),
    pinned: pinnedDataSources(admin, profile),
    failsStart: admin.failStartup,
    observer: observerOf(metrics, log),
  };
  if (sharing.kind === 'redis') {
    const { startSharedAdministration } = await import('./shared-administration.ts');
    return startSharedAdministration(sharing.redis, openSeal(admin), {
      ...parts,
      options,
      hasOldKeys: admin.store.keys.length > 1,
      closeMs: CLOSE_MS,
    });
  }
  let isStoreWritable = true;
  const onWritten = (isWritten: boolean): void => {
    isStoreWritable = isWritten;
    metrics.storeWritten(isWritten);
  };
  let lose: (error: AppError) => void = () => undefined;
  const lost = new Promise<AppError>((resolve) => (lose = resolve));
  const onLost = (error: AppError): void => {
    onWritten(false);
    metrics.renews(false);
    lose(error);
    log.error({ event: 'admin_store_lost', err: error }, 'another process has taken the store of the administration');
  };
  const seal = openSeal(admin);
  const store = await DurableStore.open({ file: admin.store.file, seal, onLost });
  lifecycle.opened('store of the administration', () => store.close());
  // Seal immediately: after a restart the previous key may be missing.
  parts.followKeys(seal, () => {
    void rewrite(store, onWritten, log);
  });
  const wait = new LoginWait(parts);
  const { observer } = options;
  const administration: Administration = new Administration({
    ...{ ...options, store: watchedStore(store, onWritten) },
    observer: {
      ...observer,
      loginChecked: (error) => {
        observer.loginChecked(error);
        wait.checked(error);
        // `isStored` is true: without a login the check itself fails.
        wait.update(true, administration.states);
      },
    },
  });
  // When the lock is lost, stop renewing: another process would lose a refresh token that we replace (L-10).
  void lost.then((error) => {
    administration.rest(error);
  });
  lifecycle.opened('administration', () => administration.close(), CLOSE_MS);
  metrics.watch(
    () => administration.states.map((state) => watchedDataSource(state, { times, nowMs: clock.nowMs(), isStoreWritable })),
    () => clock.nowMs(),
  );
  metrics.renews(true);
  await administration.start(signal);
  return administration;
}

function webhookSettings(webhooks: AdminSettings['webhooks'], identity: Live<TlsIdentity> | undefined): WebhookSettings | undefined {
  const { targetUrl, tls: isSecure, ...where } = webhooks;
  if (targetUrl === undefined) return undefined;
  return { targetUrl, ...where, tls: isSecure ? identity : undefined };
}

/** Seals the whole store with the current key. */
async function rewrite(store: DurableStore, onWritten: (isWritten: boolean) => void, log: Logger): Promise<void> {
  try {
    await store.apply([]);
    onWritten(true);
  } catch (thrown) {
    onWritten(false);
    log.error({ event: 'admin_store_unwritten', err: thrown }, 'the store of the administration could not be sealed with its new key');
  }
}

/** Errors of a missing login recur every minute, and the login has its own log line. */
function repeatedLevel(error: AppError | undefined): 'debug' | 'warn' {
  return error?.code === 'login_needed' ? 'debug' : 'warn';
}

/** Reports events of the administration as metrics and log lines. */
export function observerOf(metrics: AdminMetrics, log: Logger): AdministrationObserver {
  /** Error of the last login check, to log changes only: a login may be missing for days. */
  let loginError: ErrorCode | undefined;
  return {
    dataSourceChanged: ({ transition, error, ...about }) => {
      metrics.dataSourceChanged(about.transport, transition);
      const line = { event: 'data_source', transition, ...about, ...(error === undefined ? {} : { err: error }) };
      if (transition === 'overdue') log.error(line, 'a token was not renewed in time');
      else if (transition === 'failed') log[repeatedLevel(error)](line, 'a check of a data source failed and is repeated');
      else log.info(line, `data source ${transition}`);
    },
    delivered: (outcome, { organizationId, error }) => {
      metrics.delivered(outcome);
      const line = { event: 'webhook_delivery', outcome, organizationId, ...(error === undefined ? {} : { err: error }) };
      // Anybody can send such deliveries, so they are counted and logged only at debug level.
      if (outcome === 'unsigned' || outcome === 'foreign') log.debug(line, 'a delivery was refused');
      else log.info(line, 'a delivery arrived');
    },
    registered: ({ event: webhook, outcome, webhookId, error }) => {
      metrics.registered(webhook, outcome);
      const line = { event: 'webhook_registration', webhook, outcome, webhookId, ...(error === undefined ? {} : { err: error }) };
      if (outcome === 'failed' || outcome === 'duplicate')
        log[repeatedLevel(error)](line, 'a registration of a webhook is not as it should be');
      else if (outcome !== 'kept') log.info(line, `webhook ${outcome}`);
    },
    eventFailed: (organizationId, webhook, error) => {
      metrics.eventFailed(webhook);
      log.warn({ event: 'authorization_event', webhook, organizationId, err: error }, 'an event could not have its effect yet');
    },
    authorizationChanged: ({ event: result, organizationId, authorizedAtMs }) => {
      const line = { event: 'authorization', result, organizationId, authorizedAt: new Date(authorizedAtMs).toISOString() };
      log.info(line, `an organization has ${result} the app`);
    },
    hookFailed: (hook, { event: result, organizationId }, error) => {
      log.warn({ event: 'authorization_hook', hook, result, organizationId, err: error }, 'a hook was not notified of an authorization');
    },
    loginChecked: (error) => {
      const isDead = isLoginDead(error);
      if (error === undefined || isDead) metrics.loginChecked(!isDead);
      const isKnown = error?.code === loginError;
      loginError = error?.code;
      if (error === undefined || isKnown) return;
      const line = { event: 'integration_login', err: error };
      log.warn(line, isDead ? 'the login of the integration is of no use now' : 'the login of the integration could not be checked');
    },
    unsaved: (error) => {
      log.error({ event: 'nonces_unsaved', err: error }, 'the nonces of a data source could not be saved');
    },
  };
}
