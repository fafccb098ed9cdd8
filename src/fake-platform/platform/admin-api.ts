// The platform's administration side on HTTP, for tests and demos: login and tokens, service-app tokens, data sources,
// schemas, webhooks with their deliveries. State lives in memory and is bounded. Here is only the wiring.
import { systemClock, type Clock } from '../../base/clock.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import type { Issuer } from './issuer.ts';
import { applicationTokenRoute } from './application-token.ts';
import { AppBook, type Integration, type ServiceApp } from './apps.ts';
import { AuthorizationCodes } from './authorization-codes.ts';
import { authorizeRoutes } from './authorize-page.ts';
import { controlCommands, type ForgingIssuer } from './control.ts';
import { DataSourceBook } from './data-source-book.ts';
import { dataSourceRoutes } from './data-sources.ts';
import { Deliveries, type Delivery } from './deliveries.ts';
import { FaultPlan } from './faults.ts';
import { platformHandle, type PlatformHandle } from './handle.ts';
import { PlatformIds } from './ids.ts';
import { Journal, type JournalEntry } from './journal.ts';
import { adminNames } from './names.ts';
import { OrganizationBook } from './organization-book.ts';
import { Organizations } from './organizations.ts';
import { PlatformTime } from './platform-time.ts';
import { RateLimit } from './rate-limit.ts';
import { schemaRecords, schemaRoutes } from './schemas.ts';
import { startServer } from './server.ts';
import { makeSwitches, type InitialSwitches } from './switches.ts';
import { TokenBook } from './token-book.ts';
import { tokenRoutes } from './token-endpoint.ts';
import { WebhookBook } from './webhook-book.ts';
import { webhookRoutes } from './webhooks.ts';

/** Watches what happens; must not throw. Nothing of what it sees is secret. */
export interface AdminApiObserver {
  /** A request is over, or will never be. */
  requested?(entry: JournalEntry): void;
  /** A delivery has found its end. */
  delivered?(delivery: Delivery): void;
}

/** How to start the administration side. */
export interface AdminApiOptions {
  readonly profile: PlatformProfile;
  /** Signs the tokens of data sources; whoever started it closes it. */
  readonly issuer: Pick<Issuer, 'issueToken'> & ForgingIssuer;
  /** Default 0: a free port. */
  readonly port?: number;
  readonly clock?: Clock;
  /** What the first integration and the first service app are; the rest is made up. */
  readonly integration?: Partial<Integration>;
  readonly serviceApp?: Partial<ServiceApp>;
  readonly switches?: InitialSwitches;
  /** The part of the platform that hands out ids and tokens. Default `us`. */
  readonly cluster?: string;
  readonly observer?: AdminApiObserver;
  /** Lets whoever has it control the platform over HTTP; nobody can without. A secret, long and random. */
  readonly controlKey?: string;
}

/** A running administration side. `close` must be called. */
export interface AdminApi extends PlatformHandle {
  readonly origin: string;
  /** What `rest.baseUrl` of a profile has to be. */
  readonly baseUrl: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
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
  const onOutcome = (delivery: Delivery): void => {
    options.observer?.delivered?.(delivery);
  };
  const deliveries = new Deliveries({ webhooks, ids, names, clock, switches: switches.delivery, onOutcome });
  const organizations = new Organizations({ book: organizationBook, tokens, dataSources, deliveries, time, switches });
  const schemas = schemaRecords(profile, time.iso());
  const faults = new FaultPlan();
  const journal = new Journal((entry) => {
    options.observer?.requested?.(entry);
  });
  const { authorizePath, tokenPath } = names.rest;
  const place = { baseUrl: names.rest.baseUrl };
  const handle = platformHandle({
    ...{ integration, serviceApp, apps, ids, switches, faults, journal, deliveries },
    ...{ organizations, organizationBook, tokens, dataSources, webhooks },
  });
  const { controlKey } = options;
  const control =
    controlKey === undefined
      ? undefined
      : { key: controlKey, commands: controlCommands({ handle, issuer, time, schemas: profile.schemas }) };
  const server = await startServer({
    ...{ prefix, port, names, apps, tokens, time, clock, switches, faults, journal, control },
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
    ...handle,
    close: async () => {
      await Promise.all([deliveries.close(), server.close()]);
    },
  };
}
