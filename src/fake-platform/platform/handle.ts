// The handle through which tests and commands play everything that has no address on the platform: administrators,
// operators of the platform, and bad luck. Only passes on to the books; knows no sockets.
import type { AppBook, Integration, ServiceApp } from './apps.ts';
import type { DataSourceBook, DataSourceRecord } from './data-source-book.ts';
import type { Deliveries } from './deliveries.ts';
import type { FaultPlan } from './faults.ts';
import type { PlatformIds } from './ids.ts';
import type { Journal } from './journal.ts';
import type { Authorization, OrganizationBook } from './organization-book.ts';
import type { Organizations } from './organizations.ts';
import type { Switches } from './switches.ts';
import type { TokenFields, TokenAccount, TokenBook } from './token-book.ts';
import type { Webhook, WebhookBook } from './webhook-book.ts';

/** What can be played, looked up and changed without a request. */
export interface PlatformHandle {
  /** The first apps. They hold secrets. */
  readonly integration: Integration;
  readonly serviceApp: ServiceApp;
  /** Registers more of them. */
  readonly apps: Pick<AppBook, 'addIntegration' | 'addServiceApp'>;
  /** Ids as they travel. */
  readonly ids: PlatformIds;
  /** May be changed at any time. */
  readonly switches: Switches;
  readonly faults: FaultPlan;
  readonly journal: Journal;
  readonly deliveries: Pick<Deliveries, 'log' | 'release' | 'settled'>;
  /** An administrator authorizes a service app, by default the first, and webhooks are told. */
  authorize(organizationId: string, app?: ServiceApp): Authorization;
  /** An administrator takes that back; false when there was nothing to take back. */
  deauthorize(organizationId: string, app?: ServiceApp): boolean;
  /** Authorizations in force, oldest first. */
  authorizations(): readonly Authorization[];
  /** A pair of an integration, by default of the first, without login. */
  logIn(app?: Integration): TokenFields;
  /** What became of the tokens of an app in an organization: the developer's for an integration, a customer's for a service app. */
  tokenAccount(clientId: string, organizationId: string): TokenAccount;
  /** Ends tokens of an app, also of one organization only, and says how many. */
  revokeTokens(clientId: string, which?: 'access' | 'refresh' | 'both', organizationId?: string): number;
  /** Data sources of an organization or of all, oldest first, with the tokens that callers present. */
  dataSources(organizationId?: string): readonly DataSourceRecord[];
  /** The platform disables a data source; false when there is none. */
  disableDataSource(id: string, errorMessage: string): boolean;
  /** All registrations, oldest first. They hold secrets. */
  webhooks(): readonly Webhook[];
  /** The platform deactivates a webhook by its plain id; false when there is none. */
  deactivateWebhook(id: string): boolean;
}

/** What it passes on to. */
export interface HandleParts {
  readonly integration: Integration;
  readonly serviceApp: ServiceApp;
  readonly apps: AppBook;
  readonly ids: PlatformIds;
  readonly switches: Switches;
  readonly faults: FaultPlan;
  readonly journal: Journal;
  readonly deliveries: Deliveries;
  readonly organizations: Organizations;
  readonly organizationBook: OrganizationBook;
  readonly tokens: TokenBook;
  readonly dataSources: DataSourceBook;
  readonly webhooks: WebhookBook;
}

/** Makes it. */
export function platformHandle(parts: HandleParts): PlatformHandle {
  const { integration, serviceApp, apps, ids, switches, faults, journal, deliveries } = parts;
  const { organizations, organizationBook, tokens, dataSources, webhooks } = parts;
  return {
    ...{ integration, serviceApp, apps, ids, switches, faults, journal, deliveries },
    authorize: (organizationId, app = serviceApp) => organizations.authorize(organizationId, app.clientId),
    deauthorize: (organizationId, app = serviceApp) => organizations.deauthorize(organizationId, app.clientId),
    authorizations: () => organizationBook.all(),
    logIn: ({ clientId, scopes, developer } = integration) =>
      tokens.issue({ clientId, kind: 'integration', scopes, organizationId: developer.organizationId, accountId: developer.personId }),
    tokenAccount: (clientId, organizationId) => tokens.account(clientId, organizationId),
    revokeTokens: (clientId, which, organizationId) =>
      tokens.revoke(
        (grant) => grant.clientId === clientId && (organizationId === undefined || grant.organizationId === organizationId),
        which,
      ),
    dataSources: (organizationId) => dataSources.of(organizationId),
    disableDataSource: (id, errorMessage) => dataSources.disable(id, errorMessage),
    webhooks: () => webhooks.all(),
    deactivateWebhook: (id) => webhooks.deactivate(id),
  };
}
