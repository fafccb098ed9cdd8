// The administration as a whole: tokens, webhooks, events and data sources joined to one thing that is started and closed.
// Makes the parts and keeps them going; what each does, it knows itself.
import { linkAbort, waitAtMost, type LinkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { openAccess, type Access, type AccessSettings } from './access.ts';
import type { DataSourceState } from './lifecycle/data-source-keeper.ts';
import type { LifecycleObserver, Trust, WantedDataSource } from './lifecycle/ports.ts';
import type { LifecycleTimes } from './lifecycle/schedule.ts';
import { ServedOrganizations } from './lifecycle/served-organizations.ts';
import { platformAddress } from './platform-address.ts';
import { decodeId } from './platform-id.ts';
import { DataSources } from './rest/data-sources.ts';
import { RestClient } from './rest/rest-client.ts';
import type { SecretStore } from './secret-store.ts';
import { openWebhookSide, type WebhookObserver, type WebhookSettings, type WebhookSide } from './webhooks/webhook-side.ts';
import type { AuthorizingOrganization } from './webhooks/inbox.ts';

/** Told of everything that operators want to know; its calls must not throw. */
export interface AdministrationObserver extends LifecycleObserver, WebhookObserver {
  /** A change of the nonces could not be saved. */
  unsaved?(error: AppError): void;
}

/** What an administration is made with. */
export interface AdministrationOptions {
  readonly profile: PlatformProfile;
  /** Stands in for the address of the profile. */
  readonly baseUrl?: string | undefined;
  readonly access: AccessSettings;
  /** Undefined: nobody listens for events; only the organizations given here are served. */
  readonly webhooks?: WebhookSettings | undefined;
  /** Organizations that have authorized us, in any spelling, beside those whose events tell of it. */
  readonly organizations: readonly string[];
  /** The data sources that each organization is to have. */
  readonly wanted: readonly Omit<WantedDataSource, 'organizationId' | 'applicationId' | 'pinnedId'>[];
  /** Data sources that must be used and no others. */
  readonly pinned: readonly Required<Pick<WantedDataSource, 'organizationId' | 'transport' | 'pinnedId'>>[];
  readonly times: LifecycleTimes;
  /** Whether a first look that fails is an error of the start; otherwise it is repeated and nothing else. */
  readonly failsStart: boolean;
  readonly store: SecretStore;
  readonly trust: Trust;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: AdministrationObserver;
}

/** A running administration. */
export class Administration {
  readonly #options: AdministrationOptions;
  readonly #access: Access;
  readonly #organizations: ServedOrganizations;
  readonly #over: LinkedAbort = linkAbort();
  #webhooks: WebhookSide | undefined;
  #looking: Promise<void> | undefined;

  /** @throws AppError `profile_invalid`, `config_invalid` or `bad_message` for settings that cannot be. */
  constructor(options: AdministrationOptions) {
    this.#options = options;
    const { profile, clock, log, store, trust, times, observer } = options;
    const address = platformAddress(profile, options.baseUrl);
    this.#access = openAccess(options.access, { address, profile, store, clock, log });
    this.#organizations = new ServedOrganizations({
      ...{ store, trust, times, clock, observer },
      tokens: this.#access.organizations,
      wanted: (organizationId) => this.#wanted(organizationId),
      openApi: (tokens) => new DataSources(new RestClient({ address, tokens, clock, log }), profile.jws.claims),
      onUnsaved: (error) => {
        observer.unsaved?.(error);
      },
    });
  }

  /** Every data source that is looked after. */
  get states(): readonly DataSourceState[] {
    return this.#organizations.states;
  }

  /** The port on which deliveries are taken; undefined without webhooks. */
  get webhookPort(): number | undefined {
    return this.#webhooks?.port;
  }

  /**
   * Begins. Resolves when the data sources of all known organizations have been looked after once; what failed is tried
   * again without end. An organization that has not authorized the app never fails the start.
   *
   * @throws AppError `listen_failed`, of the store, and with `failsStart` the first failure of the first look.
   */
  async start(signal: AbortSignal): Promise<void> {
    const { webhooks, observer, store, clock, failsStart, log } = this.#options;
    const failures: AppError[] = [];
    if (webhooks !== undefined && this.#access.serviceApp !== undefined) {
      const handler = this.#organizations;
      this.#webhooks = await openWebhookSide(webhooks, this.#access.serviceApp, { handler, store, clock, observer });
      // Registered before the organizations are looked through: what happens meanwhile is delivered.
      failures.push(...(await this.#ensureWebhooks(signal)));
      this.#looking = this.#lookAgain(failures.length > 0);
    }
    const failed = await this.#organizations.start(this.#known(), signal);
    for (const { organizationId, error } of failed) {
      log.warn({ event: 'organization_failed', organizationId, err: error }, 'an organization is not served yet');
      if (error.code !== 'org_not_registered') failures.push(error);
    }
    if (signal.aborted) failures.push(new AppError('platform_unavailable', 'the first look at the data sources took too long'));
    const [first] = failures;
    if (failsStart && first !== undefined) throw first;
  }

  /** Ends everything in order; nothing is deleted at the platform (L-13). Idempotent. */
  async close(): Promise<void> {
    this.#over.abort('shutdown');
    await this.#webhooks?.close();
    await this.#looking;
    await this.#organizations.close();
    await this.#access.close();
  }

  #known(): readonly AuthorizingOrganization[] {
    const { organizations, profile } = this.#options;
    const known = new Map<string, AuthorizingOrganization>();
    for (const authorizerOrgId of organizations) {
      const organizationId = decodeId(authorizerOrgId, 'ORGANIZATION', profile.ids?.urnScheme ?? '');
      known.set(organizationId, { organizationId, authorizerOrgId });
    }
    for (const organization of this.#webhooks?.authorized ?? []) known.set(organization.organizationId, organization);
    return [...known.values()];
  }

  #wanted(organizationId: string): readonly WantedDataSource[] {
    const applicationId = this.#access.serviceApp?.applicationId;
    return this.#options.wanted.map((one) => {
      const pinned = this.#options.pinned.find((pin) => pin.organizationId === organizationId && pin.transport === one.transport);
      return { ...one, organizationId, applicationId, pinnedId: pinned?.pinnedId };
    });
  }

  /** @returns what failed; it is told to the observer by the registrations. */
  async #ensureWebhooks(signal: AbortSignal): Promise<readonly AppError[]> {
    try {
      await this.#webhooks?.registrations.ensure(signal);
      return [];
    } catch (thrown) {
      return [toAppError(thrown, 'internal', 'the webhooks could not be registered')];
    }
  }

  /** Looks at the registrations again and again (H-25). Never throws. */
  async #lookAgain(hasFailed: boolean): Promise<void> {
    const { clock, times } = this.#options;
    const { signal } = this.#over;
    for (let failed = hasFailed; ;) {
      await waitAtMost(new Promise<never>(() => undefined), failed ? times.retryMs : times.checkMs, clock, signal);
      if (signal.aborted) return;
      failed = (await this.#ensureWebhooks(signal)).length > 0;
    }
  }
}
