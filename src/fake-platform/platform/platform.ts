// The state of the fake platform in memory, and everything that happens to it without an HTTP request: decisions of administrators and
// operators, and failures. Tests and commands cause these; routes read and change the state. Knows no requests.
import type { Clock } from '../../base/clock.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { AppBook, type Integration, type ServiceApp } from './apps.ts';
import { AuthorizationCodes } from './authorization-codes.ts';
import { Authorizations } from './authorizations.ts';
import { DataSourceBook, type DataSourceRecord } from './data-source-book.ts';
import { Deliveries, type Delivery } from './deliveries.ts';
import type { Authorization } from './delivery-message.ts';
import { FaultPlan } from './faults.ts';
import { PlatformIds } from './ids.ts';
import type { Issuer } from './issuer.ts';
import { Journal, type JournalEntry } from './journal.ts';
import { adminNames, type AdminNames } from './names.ts';
import { RateLimit } from './rate-limit.ts';
import { schemaRecords, type SchemaRecord } from './schemas.ts';
import { makeSwitches, type InitialSwitches, type Switches } from './switches.ts';
import { TokenBook, type TokenAccount, type TokenFields } from './token-book.ts';
import { WebhookBook, type Webhook } from './webhook-book.ts';
import { isoTime } from './platform-time.ts';

/** Observes the platform; must not throw. What it gets contains no secret. */
export interface PlatformObserver {
  /** A request was answered, or will never be. */
  requested?(entry: JournalEntry): void;
  /** The outcome of a delivery is known. */
  delivered?(delivery: Delivery): void;
}

export interface PlatformOptions {
  readonly profile: PlatformProfile;
  /** Signs the tokens of data sources. The platform does not close the issuer. */
  readonly issuer: Pick<Issuer, 'issueToken'>;
  readonly clock: Clock;
  /** Members of the first integration and of the first service app; missing members are generated. */
  readonly integration?: Partial<Integration>;
  readonly serviceApp?: Partial<ServiceApp>;
  readonly switches?: InitialSwitches;
  /** The part of the platform that issues ids and tokens. Default `us`. */
  readonly cluster?: string;
  readonly observer?: PlatformObserver;
}

/** One platform. `deliveries` must be closed. */
export class Platform {
  readonly clock: Clock;
  readonly names: AdminNames;
  /** The prefix of every path of the administration side: empty, or beginning with a slash. */
  readonly prefix: string;
  /**
   * The address of the administration side, for `rest.baseUrl` of a profile. Before the server listens, it is the address in the platform's
   * own profile.
   */
  baseUrl: string;
  readonly ids: PlatformIds;
  readonly schemas: readonly SchemaRecord[];
  /** Members may be changed at any time. */
  readonly switches: Switches;
  readonly faults = new FaultPlan();
  readonly journal: Journal;
  readonly limit: RateLimit;
  readonly apps: AppBook;
  /** The first integration and the first service app. They contain secrets. */
  readonly integration: Integration;
  readonly serviceApp: ServiceApp;
  readonly tokens: TokenBook;
  readonly codes: AuthorizationCodes;
  readonly dataSourceBook: DataSourceBook;
  readonly webhookBook = new WebhookBook();
  readonly deliveries: Deliveries;
  readonly #authorizations: Authorizations;

  /** @throws AppError `profile_invalid` when the profile lacks a section of the administration side. */
  constructor({ profile, issuer, clock, cluster = 'us', observer, ...given }: PlatformOptions) {
    this.clock = clock;
    this.names = adminNames(profile);
    this.baseUrl = this.names.rest.baseUrl;
    this.prefix = new URL(this.baseUrl).pathname.replace(/\/$/u, '');
    this.switches = makeSwitches(given.switches);
    this.ids = new PlatformIds(this.names.ids.urnScheme, cluster);
    this.schemas = schemaRecords(profile, isoTime(this.nowMs()));
    this.journal = new Journal((entry) => observer?.requested?.(entry));
    this.limit = new RateLimit(clock, this.switches);
    this.apps = new AppBook({ integration: this.names.oauth.integrationScopes, serviceApp: this.names.oauth.serviceAppScopes });
    this.integration = this.apps.addIntegration(given.integration);
    this.serviceApp = this.apps.addServiceApp(given.serviceApp);
    this.tokens = new TokenBook({ clock, cluster, switches: this.switches });
    this.codes = new AuthorizationCodes(clock, this.switches);
    const nowMs = this.nowMs.bind(this);
    this.dataSourceBook = new DataSourceBook(issuer, nowMs);
    const { names, ids, switches, tokens, dataSourceBook: dataSources, webhookBook: webhooks } = this;
    const onOutcome = (delivery: Delivery): void => observer?.delivered?.(delivery);
    this.deliveries = new Deliveries({ webhooks, ids, names, clock, switches: switches.delivery, onOutcome });
    this.#authorizations = new Authorizations({ clock, nowMs, switches, tokens, dataSources, deliveries: this.deliveries });
  }

  /** The time on the platform's clock, ms since the epoch. */
  nowMs(): number {
    return this.clock.nowMs() + this.switches.skewMs;
  }

  /** An administrator authorizes a service app, by default the first one. Webhooks are notified. */
  authorize(organizationId: string, app = this.serviceApp): Authorization {
    return this.#authorizations.begin(organizationId, app.clientId);
  }

  /** An administrator withdraws the authorization. @returns false when there is none. */
  deauthorize(organizationId: string, app = this.serviceApp): boolean {
    return this.#authorizations.end(organizationId, app.clientId);
  }

  /** Authorizations in force, oldest first. */
  authorizations(): readonly Authorization[] {
    return this.#authorizations.all();
  }

  /** The authorization for which tokens are issued; undefined when there is none yet. */
  usableAuthorization(clientId: string, organizationId: string): Authorization | undefined {
    return this.#authorizations.usable(clientId, organizationId);
  }

  /** A pair of tokens for an integration, by default the first one, without a login. */
  logIn({ clientId, scopes, developer } = this.integration): TokenFields {
    const { organizationId, personId: accountId } = developer;
    return this.tokens.issue({ clientId, kind: 'integration', scopes, organizationId, accountId });
  }

  /** Counts of an app's tokens in an organization, which is the developer's for an integration and a customer's for a service app. */
  tokenAccount(clientId: string, organizationId: string): TokenAccount {
    return this.tokens.account(clientId, organizationId);
  }

  /** Ends the tokens of an app, in one organization or in all. @returns their number. */
  revokeTokens(clientId: string, which?: 'access' | 'refresh' | 'both', organizationId?: string): number {
    const isMeant = (of: string): boolean => organizationId === undefined || of === organizationId;
    return this.tokens.revoke((grant) => grant.clientId === clientId && isMeant(grant.organizationId), which);
  }

  /** Data sources of one organization or of all, oldest first, with the tokens that callers present. */
  dataSources(organizationId?: string): readonly DataSourceRecord[] {
    return this.dataSourceBook.of(organizationId);
  }

  /** The platform disables a data source. @returns false when there is none. */
  disableDataSource(id: string, errorMessage: string): boolean {
    return this.dataSourceBook.disable(id, errorMessage);
  }

  /** All webhooks, oldest first. They contain secrets. */
  webhooks(): readonly Webhook[] {
    return this.webhookBook.all();
  }

  /** The platform deactivates a webhook. @param id - a plain UUID. @returns false when there is none. */
  deactivateWebhook(id: string): boolean {
    return this.webhookBook.deactivate(id);
  }
}
