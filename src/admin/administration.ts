// The administration as a whole: connects, starts and closes the parts for tokens, webhooks, events and data sources.
import { linkAbort, pause, waitAtMost, type LinkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { openAccess, type Access, type AccessSettings } from './access.ts';
import type { DataSourceState } from './lifecycle/data-source-reconciler.ts';
import type { LifecycleObserver, Leader, Trust, WantedDataSource } from './lifecycle/ports.ts';
import type { LifecycleTimes } from './lifecycle/schedule.ts';
import { ServedOrganizations } from './lifecycle/served-organizations.ts';
import { wantedIn, type WantedEverywhere } from './lifecycle/wanted.ts';
import { renewingAfter } from './kept-tokens.ts';
import { platformAddress } from './platform-address.ts';
import { decodeId } from './platform-id.ts';
import { failureOfStart, type FirstFailure } from './lifecycle/start-failure.ts';
import { DataSources } from './rest/data-sources.ts';
import { RestClient } from './rest/rest-client.ts';
import { retryAfterOf } from './rest/rest-error.ts';
import type { SecretStore } from './secret-store.ts';
import { openWebhookSide, type WebhookObserver, type WebhookSettings, type WebhookSide } from './webhooks/webhook-side.ts';
import { AuthorizationHooks, type AuthorizationHooksOptions } from './webhooks/authorization-hooks.ts';
import type { AuthorizationResult } from './webhooks/authorization-result.ts';
import type { ServiceAppEvent } from './webhooks/delivery.ts';
import type { AuthorizingOrganization, HandledEvent, Received } from './webhooks/inbox.ts';
import { readKeptEvent } from './webhooks/kept-events.ts';

/** Limit for the first check of webhooks and data sources, ms. */
const FIRST_CHECK_MS = 180_000;
/** Limit for the first check when calls can come in without it, ms: enough for a responsive platform. */
const SERVING_CHECK_MS = 15_000;
/** How long the first check of data sources waits for the webhooks, ms. */
const WEBHOOKS_FIRST_MS = 5000;

/** Receives all events for operators. The methods must not throw. */
export interface AdministrationObserver extends LifecycleObserver, WebhookObserver {
  /** A change of nonces could not be saved. */
  readonly unsaved: (error: AppError) => void;
  /** The login of the integration was checked; with an error the login is unusable now. */
  readonly loginChecked: (error: AppError | undefined) => void;
  /** An event of the service app was processed. */
  readonly authorizationChanged: (result: AuthorizationResult) => void;
  /** An operator's hook failed for such an event. */
  readonly hookFailed: AuthorizationHooksOptions['onFailed'];
}

export interface AdministrationOptions {
  readonly profile: PlatformProfile;
  /** Overrides the address in the platform profile. */
  readonly baseUrl?: string | undefined;
  readonly access: AccessSettings;
  /** How long before its expiry an access token is renewed, seconds. */
  readonly bufferSeconds: number;
  /** Undefined without webhooks; then only the `organizations` below are served. */
  readonly webhooks?: WebhookSettings | undefined;
  /** The hooks to notify of processed events. */
  readonly hooks: Pick<AuthorizationHooksOptions, 'hooks' | 'limitMs'>;
  /** Organizations that have authorized us, in any spelling, in addition to those known from events. */
  readonly organizations: readonly string[];
  /** The data sources that each organization must have. */
  readonly wanted: WantedEverywhere['wanted'];
  /** The only data sources that may be used. */
  readonly pinned: WantedEverywhere['pinned'];
  readonly times: LifecycleTimes;
  /** Whether the first check can fail the start. When false, it runs in the background. Failed checks are always repeated. */
  readonly failsStart: boolean;
  readonly store: SecretStore;
  readonly trust: Trust;
  /** Set when several processes share the store, and this one renews (L-10). */
  readonly leader?: Leader | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: AdministrationObserver;
}

/** A running administration. */
export class Administration {
  readonly #options: AdministrationOptions;
  readonly #access: Access;
  readonly #organizations: ServedOrganizations;
  readonly #hooks: AuthorizationHooks;
  readonly #over: LinkedAbort = linkAbort();
  #webhooks: WebhookSide | undefined;
  #firstChecked: Promise<unknown> | undefined;
  #checking: Promise<void> | undefined;

  /** @throws AppError `profile_invalid`, `config_invalid` or `bad_message` for invalid settings. */
  constructor(options: AdministrationOptions) {
    this.#options = options;
    const { profile, clock, log, store, trust, times, observer, leader, bufferSeconds } = options;
    const address = platformAddress(profile, options.baseUrl);
    const confirm = leader?.confirm;
    const renewing = confirm && renewingAfter(confirm);
    this.#access = openAccess(options.access, { address, profile, store, clock, log, bufferSeconds, confirm, renewing });
    this.#hooks = new AuthorizationHooks({ ...options.hooks, clock, onFailed: observer.hookFailed });
    this.#organizations = new ServedOrganizations({
      ...{ store, trust, times, clock, observer, leader },
      tokens: this.#access.organizations,
      wanted: (organizationId) => this.#wanted(organizationId),
      openApi: (tokens) => new DataSources(new RestClient({ address, tokens, clock, log, confirm }), profile.jws.claims),
      onUnsaved: observer.unsaved,
    });
  }

  /** The states of all managed data sources. */
  get states(): readonly DataSourceState[] {
    return this.#organizations.states;
  }

  /** The port of the webhook endpoint; undefined without webhooks. */
  get webhookPort(): number | undefined {
    return this.#webhooks?.port;
  }

  /**
   * Accepts deliveries, trusts without a request the tokens that were valid before a restart (L-15), and then checks webhooks and data
   * sources for the first time. Without `failsStart` this check runs in the background. With `failsStart`, `start` waits for the check, but
   * only briefly when calls can come in already. Failed checks are retried without end.
   *
   * @param signal - aborts the start; running work ends with {@link Administration.close}.
   * @throws AppError `listen_failed`, of the store, `shutting_down` when `signal` aborts, and with `failsStart` the error from
   * {@link failureOfStart}.
   */
  async start(signal: AbortSignal): Promise<void> {
    const { webhooks, observer, store, clock, failsStart, leader } = this.#options;
    const { serviceApp } = this.#access;
    if (webhooks !== undefined && serviceApp !== undefined) {
      this.#webhooks = await openWebhookSide(webhooks, serviceApp, {
        ...{ handler: this.#organizations, store, clock, observer },
        onDone: (event) => {
          this.#onHandled(event);
        },
      });
    }
    await this.#organizations.serveKept(await this.#known());
    if (this.#over.isAborted) throw new AppError('shutting_down', 'the start was given up');
    const isServing = this.states.some(({ isServed }) => isServed);
    const checked = this.#firstCheck();
    this.#firstChecked = checked;
    if (!failsStart) return;
    const waited = await waitAtMost(checked, isServing ? SERVING_CHECK_MS : FIRST_CHECK_MS, clock, signal);
    if (waited.kind === 'aborted') throw new AppError('shutting_down', 'the start was given up');
    const failures = waited.kind === 'value' ? waited.value : [tooLong()];
    const served = this.states.flatMap(({ isServed, wanted }) => (isServed ? [wanted.organizationId] : []));
    const failure = failureOfStart(failures, { waitsForLogin: leader !== undefined, isServing, served });
    if (failure !== undefined) throw failure;
  }

  /**
   * Renews no tokens of ours from now on, because the process stops or another one has taken the store (L-10). A running renewal may go on
   * until {@link Administration.close}. Data sources are managed until the tokens expire.
   *
   * @param why - see {@link Access.rest}.
   */
  rest(why?: AppError): void {
    this.#access.rest(why);
  }

  /** Whether this process can now process events that other servers have accepted. */
  get takesEvents(): boolean {
    return this.#webhooks !== undefined && !this.#over.isAborted;
  }

  /**
   * Processes an event.
   *
   * @throws AppError as {@link WebhookSide.receive} does; `shutting_down` before the start and without webhooks.
   */
  receive(event: ServiceAppEvent): Promise<Received> {
    return this.#webhooks?.receive(event) ?? Promise.reject(new AppError('shutting_down', 'no deliveries are taken now'));
  }

  /** Closes everything in order; deletes nothing on the platform (L-13). Waits for a running renewal. Idempotent. */
  async close(): Promise<void> {
    this.rest();
    this.#over.abort('shutdown');
    await this.#webhooks?.close();
    await this.#hooks.close();
    await this.#checking;
    await this.#organizations.close();
    await this.#firstChecked;
    await this.#access.close();
  }

  #onHandled({ event, organizationId, authorizerOrgId, authorizedAtMs }: HandledEvent): void {
    const about = { organizationId, authorizedAtMs };
    const { organizations } = this.#access;
    const result: AuthorizationResult =
      event === 'authorized' ? { event, ...about, tokens: organizations.tokensOf(authorizerOrgId) } : { event, ...about };
    this.#options.observer.authorizationChanged(result);
    this.#hooks.notify(result);
  }

  /** @returns the failures, which have been reported. Never throws. */
  async #firstCheck(): Promise<readonly FirstFailure[]> {
    const { signal } = this.#over;
    const { clock, log } = this.#options;
    const ensured = this.#checkApp(signal);
    this.#checking = ensured.then((failed) => (this.#access.integration === undefined ? undefined : this.#checkAgain(failed)));
    // Webhooks come first, so that authorizations during the check of organizations are delivered; but only for a limited time.
    await waitAtMost(ensured, WEBHOOKS_FIRST_MS, clock, signal);
    const failed = await this.#organizations.start(signal);
    for (const { organizationId, error } of failed) {
      log.warn({ event: 'organization_failed', organizationId, err: error }, 'an organization is not served yet');
    }
    const ofApp = (await ensured).map((error): FirstFailure => ({ error, of: 'app' }));
    return [...ofApp, ...failed.map(({ error, organizationId }) => ({ error, of: { organizationId } }))];
  }

  async #known(): Promise<readonly AuthorizingOrganization[]> {
    const { organizations, profile, store, log } = this.#options;
    const known = new Map<string, AuthorizingOrganization>();
    for (const authorizerOrgId of organizations) {
      const organizationId = decodeId(authorizerOrgId, 'ORGANIZATION', profile.ids?.urnScheme ?? '');
      const isLeft = this.#access.serviceApp !== undefined && (await readKeptEvent(store, organizationId))?.event === 'deauthorized';
      if (!isLeft) known.set(organizationId, { organizationId, authorizerOrgId });
      else log.warn({ event: 'organization_left', organizationId }, 'an organization of the settings has taken its authorization back');
    }
    for (const organization of this.#webhooks?.authorized ?? []) known.set(organization.organizationId, organization);
    return [...known.values()];
  }

  #wanted(organizationId: string): readonly WantedDataSource[] {
    const { wanted, pinned } = this.#options;
    return wantedIn(organizationId, { wanted, pinned, applicationId: this.#access.serviceApp?.applicationId });
  }

  /** Checks the login and the webhooks, which belong to no organization. @returns the failures, which have been reported. */
  async #checkApp(signal: AbortSignal): Promise<readonly AppError[]> {
    const { observer } = this.#options;
    const failures: AppError[] = [];
    const attempt = async (work: Promise<void> | undefined, what: string): Promise<AppError | undefined> => {
      try {
        await work;
        return undefined;
      } catch (thrown) {
        const failure = toAppError(thrown, 'internal', what);
        failures.push(failure);
        return failure;
      }
    };
    const { integration } = this.#access;
    const refused = await attempt(integration?.keepAlive(signal), 'the login could not be checked');
    const failed = await attempt(this.#webhooks?.registrations.ensure(signal), 'the webhooks could not be registered');
    // The platform may have revoked tokens that have not expired.
    const isEnded = failed?.code === 'login_needed';
    if (integration !== undefined && !signal.aborted) observer.loginChecked(refused ?? (isEnded ? failed : undefined));
    return failures;
  }

  /** Checks the login and the webhooks periodically (H-25). Never throws. */
  async #checkAgain(first: readonly AppError[]): Promise<void> {
    const { clock, times } = this.#options;
    const { signal } = this.#over;
    for (let failed = first; ;) {
      const pauseMs = failed.length === 0 ? times.checkMs : Math.max(times.retryMs, ...failed.map(retryAfterOf));
      if (!(await pause(pauseMs, clock, signal))) return;
      failed = await this.#checkApp(signal);
    }
  }
}

function tooLong(): FirstFailure {
  return { error: new AppError('platform_unavailable', 'the first check of the data sources took too long'), of: 'organizations' };
}
