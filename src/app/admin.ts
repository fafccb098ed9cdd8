// What programs import that administer the platform themselves: `import { openAdmin } from 'parley-voice/admin'`.
import type { IntegrationSide } from '../admin/access.ts';
import type { DataSources } from '../admin/rest/data-sources.ts';
import type { Schemas } from '../admin/rest/schemas.ts';
import type { Webhooks } from '../admin/rest/webhooks.ts';
import type { TokenSource } from '../admin/token-source.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { openAdminAccess, platformOf } from './admin-access.ts';
import type { WrittenSettings } from './config/given-settings.ts';
import { loadSections } from './config/load-settings.ts';

export type { IntegrationSide, Lifetimes } from '../admin/access.ts';
export { OrgNotRegisteredError } from '../admin/organizations.ts';
export { isActive, type DataSource, type DataSourceCreate, type DataSourceUpdate, type Schema } from '../admin/records.ts';
export type { DataSources } from '../admin/rest/data-sources.ts';
export { RestError } from '../admin/rest/rest-error.ts';
export type { Schemas } from '../admin/rest/schemas.ts';
export type { Webhooks } from '../admin/rest/webhooks.ts';
export type { TokenSource } from '../admin/token-source.ts';
export type { WebhookCreate, WebhookRegistration, WebhookUpdate } from '../admin/webhook-records.ts';
export { AppError, type ErrorCode } from '../base/errors.ts';
export type { WrittenSettings as AdminSettings } from './config/given-settings.ts';

/** The platform as one organization sees it through the app. */
export interface OrganizationAdmin {
  readonly dataSources: DataSources;
  readonly schemas: Schemas;
  /** The app's tokens in the organization. Its methods throw `OrgNotRegisteredError` when there are none. */
  readonly tokens: TokenSource;
}

/** The administration interface. Call `close`. */
export interface AdminClient {
  /** The integration; a person logs in with its `logIn` once, in a browser. Undefined with `admin.login` other than `service_app`. */
  readonly integration: IntegrationSide | undefined;
  /** The webhooks of the service app. Undefined as {@link AdminClient.integration}. */
  readonly webhooks: Webhooks | undefined;
  /** @param organization - its id, plain or encoded. @throws AppError `bad_message` for an invalid one. */
  organization(organization: string): OrganizationAdmin;
  /** Resolves when running renewals have ended and are stored. */
  close(): Promise<void>;
}

/** How the client is opened. */
export interface AdminClientOptions {
  /**
   * `change` (default): this program alone has the store, renews tokens and requests the first one of an organization. `read`: a
   * server that runs may have it; tokens are those that it keeps.
   */
  readonly purpose?: 'read' | 'change';
}

/**
 * Opens the administration interface with the settings of a server: `platform.profile`, the section `admin`, and `store` where
 * servers share the administration. Starts nothing in the background, and sends no request before one is asked for.
 *
 * @param settings - the path of a configuration file, or the settings themselves; see `createServer`.
 * @throws AppError `config_invalid`, `profile_invalid`, `bad_message`; `store_failed`, also when another process has the store and
 * the purpose is `change`.
 */
export async function openAdmin(settings: WrittenSettings | string, { purpose = 'change' }: AdminClientOptions = {}): Promise<AdminClient> {
  const on = ['--admin.enabled=true'];
  const given = typeof settings === 'string' ? { argv: ['--config', settings, ...on] } : { given: enabled(settings) };
  const { settings: read } = loadSections(given, 'admin', 'platform', 'store', 'log');
  const opened = await openAdminAccess(read.admin, {
    ...{ profile: platformOf(read), clock: systemClock, log: createLogger({ level: read.log.level }), sharing: read.store },
    ...{ purpose, asksForFirst: purpose === 'change' },
  });
  return {
    integration: opened.access.integration,
    webhooks: opened.access.serviceApp?.api,
    organization: (id) => ({ dataSources: opened.dataSourcesOf(id), schemas: opened.schemasOf(id), tokens: opened.tokensOf(id) }),
    close: () => opened.close(),
  };
}

function enabled(settings: WrittenSettings): WrittenSettings {
  return { ...settings, admin: { ...settings.admin, enabled: true } };
}
