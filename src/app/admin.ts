// The entry point for programs that administer the platform themselves: `import { openAdmin } from 'parley-voice/admin'`.
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

/** The platform from the view of one organization that has authorized the app. */
export interface OrganizationAdmin {
  readonly dataSources: DataSources;
  readonly schemas: Schemas;
  /** The app's tokens in the organization. The methods throw `OrgNotRegisteredError` when there are none. */
  readonly tokens: TokenSource;
}

/** The administration interface. Call `close`. */
export interface AdminClient {
  /** The integration, with which a person logs in once in a browser (`logIn`). Undefined unless `admin.login` is `service_app`. */
  readonly integration: IntegrationSide | undefined;
  /** The webhooks of the service app. Undefined unless `admin.login` is `service_app`. */
  readonly webhooks: Webhooks | undefined;
  /** @param organization - the plain or encoded id. @throws AppError `bad_message` for an invalid id. */
  organization(organization: string): OrganizationAdmin;
  /** Resolves when running renewals have ended and are stored. */
  close(): Promise<void>;
}

/** The options of the client. */
export interface AdminClientOptions {
  /**
   * `change` (default): this program holds the store alone, renews tokens, and requests the first token of an organization. `read`: a
   * running server may hold the store; this program uses the stored tokens.
   */
  readonly purpose?: 'read' | 'change';
}

/**
 * Opens the administration interface with the settings of a server: `platform.profile`, the section `admin`, and `store` when servers share
 * the administration. Starts nothing in the background, and sends no request by itself.
 *
 * @param settings - the path of a configuration file, or the settings themselves; see `createServer`.
 * @throws AppError `config_invalid`, `profile_invalid`, `bad_message`; `store_failed`, also when another process holds the store and the
 * purpose is `change`.
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
