// The platform's administration side on HTTP, for tests and demos: login and tokens, service-app tokens, data sources,
// schemas, webhooks with their deliveries. State lives in memory and is bounded. Here is only the wiring, and the handle
// through which tests play everything that has no address: administrators, operators of the platform, and bad luck.
import { systemClock, type Clock } from '../../base/clock.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import type { Issuer } from '../issuer.ts';
import { applicationTokenRoute } from './application-token.ts';
import { AppBook, type Integration, type ServiceApp } from './apps.ts';
import { AuthorizationCodes } from './authorization-codes.ts';
import { authorizeRoutes } from './authorize-page.ts';
import { DataSourceBook, type DataSourceRecord } from './data-source-book.ts';
import { dataSourceRoutes } from './data-sources.ts';
import { Deliveries } from './deliveries.ts';
import { FaultPlan } from './faults.ts';
import { PlatformIds } from './ids.ts';
import { Journal } from './journal.ts';
import { adminNames } from './names.ts';
import { OrganizationBook, type Authorization } from './organization-book.ts';
import { Organizations } from './organizations.ts';
import { PlatformTime } from './platform-time.ts';
import { RateLimit } from './rate-limit.ts';
import { schemaRecords, schemaRoutes } from './schemas.ts';
import { startServer } from './server.ts';
import { makeSwitches, type InitialSwitches, type Switches } from './switches.ts';
import { TokenBook, type FirstTokenFields } from './token-book.ts';
import { tokenRoutes } from './token-endpoint.ts';
import { WebhookBook, type Webhook } from './webhook-book.ts';
import { webhookRoutes } from './webhooks.ts';

/** How to start the administration side. */
export interface AdminApiOptions {
  readonly profile: PlatformProfile;
  /** Signs the tokens of data sources; whoever started it closes it. */
  readonly issuer: Pick<Issuer, 'issueToken'>;
  /** Default 0: a free port. */
  readonly port?: number;
  readonly clock?: Clock;
  /** What the first integration and the first service app are; the rest is made up. */
  readonly integration?: Partial<Integration>;
  readonly serviceApp?: Partial<ServiceApp>;
  readonly switches?: InitialSwitches;
  /** The part of the platform that hands out ids and tokens. Default `us`. */
  readonly cluster?: string;
}

/** A running administration side. `close` must be called. */
export interface AdminApi {
  readonly origin: string;
  /** What `rest.baseUrl` of a profile has to be. */
  readonly baseUrl: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
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
  /** A pair of an integration, by default of the first, without login. */
  logIn(app?: Integration): FirstTokenFields;
  /** Ends tokens of an app, also of one organization only, and says how many. */
  revokeTokens(clientId: string, which?: 'access' | 'refresh' | 'both', organizationId?: string): number;
  /** Data sources of an organization, oldest first, with the tokens that callers present. */
  dataSources(organizationId: string): readonly DataSourceRecord[];
  /** The platform disables a data source; false when there is none. */
  disableDataSource(id: string, errorMessage: string): boolean;
  /** All registrations, oldest first. They hold secrets. */
  webhooks(): readonly Webhook[];
  /** The platform deactivates a webhook by its plain id; false when there is none. */
  deactivateWebhook(id: string): boolean;
  close(): Promise<void>;
}

/**
 * Starts the administration side on 127.0.0.1.
 *
 * @throws AppError `profile_invalid` when the profile lacks a section of it, `listen_failed` when the port is taken.
 */
export async function startAdminApi(options: AdminApiOptions): Promise<AdminApi> {
  const { profile, issuer, clock = systemClock, cluster = 'us', port = 0 } = options;
  const names = adminNames(profile);
  const allowLoopbackHttp = names.rest.allowLoopbackHttp === true;
  const prefix = new URL(names.rest.baseUrl).pathname.replace(/\/$/u, '');
  const switches = makeSwitches(options.switches);
  const time = new PlatformTime(clock, switches);
  const ids = new PlatformIds(names.ids.urnScheme, cluster);
  const apps = new AppBook({ integration: names.oauth.integrationScopes, serviceApp: names.oauth.serviceAppScopes });
  const integration = apps.addIntegration(options.integration);
  const serviceApp = apps.addServiceApp(options.serviceApp);
  const tokens = new TokenBook({ clock, cluster, switches });
  const codes = new AuthorizationCodes(clock, switches);
  const organizationBook = new OrganizationBook({ clock, time, switches });
  const dataSources = new DataSourceBook(issuer, time);
  const webhooks = new WebhookBook();
  const deliveries = new Deliveries({ webhooks, ids, names, clock, switches: switches.delivery });
  const organizations = new Organizations({ book: organizationBook, tokens, dataSources, deliveries, time, switches });
  const schemas = schemaRecords(profile, time.iso());
  const faults = new FaultPlan();
  const journal = new Journal();
  const { authorizePath, tokenPath } = names.rest;
  const place = { baseUrl: names.rest.baseUrl };
  const server = await startServer({
    ...{ prefix, port, names, tokens, time, clock, switches, faults, journal },
    limit: new RateLimit(clock, switches),
    routes: [
      ...authorizeRoutes({ path: authorizePath, fullPath: prefix + authorizePath, apps, codes, switches }),
      ...tokenRoutes({ path: tokenPath, apps, codes, tokens, ids, time }),
      applicationTokenRoute({ apps, ids, organizations: organizationBook, tokens, switches }),
      ...schemaRoutes(schemas),
      ...dataSourceRoutes({ apps, book: dataSources, schemas, switches, allowLoopbackHttp }),
      ...webhookRoutes({
        ...{ book: webhooks, ids, time, allowLoopbackHttp },
        resources: [names.webhook.appResource, names.webhook.dataSourceResource],
        listUrl: () => `${place.baseUrl}/webhooks`,
      }),
    ],
  });
  const origin = `http://127.0.0.1:${String(server.port)}`;
  place.baseUrl = origin + prefix;
  return {
    ...{ origin, baseUrl: place.baseUrl, authorizeUrl: place.baseUrl + authorizePath, tokenUrl: place.baseUrl + tokenPath },
    ...{ integration, serviceApp, apps, ids, switches, faults, journal, deliveries },
    authorize: (organizationId, app = serviceApp) => organizations.authorize(organizationId, app.clientId),
    deauthorize: (organizationId, app = serviceApp) => organizations.deauthorize(organizationId, app.clientId),
    logIn: ({ clientId, scopes, developer } = integration) =>
      tokens.issue({ clientId, kind: 'integration', scopes, organizationId: developer.organizationId, accountId: developer.personId }),
    revokeTokens: (clientId, which, organizationId) =>
      tokens.revoke(
        (grant) => grant.clientId === clientId && (organizationId === undefined || grant.organizationId === organizationId),
        which,
      ),
    dataSources: (organizationId) => dataSources.of(organizationId),
    disableDataSource: (id, errorMessage) => dataSources.disable(id, errorMessage),
    webhooks: () => webhooks.all(),
    deactivateWebhook: (id) => webhooks.deactivate(id),
    close: async () => {
      await Promise.all([deliveries.close(), server.close()]);
    },
  };
}
