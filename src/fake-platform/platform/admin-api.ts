// The platform's administration side over HTTP, for tests and demos: login and tokens, service-app tokens, data sources, schemas, and
// webhooks with their deliveries. State is in memory and bounded. This file only connects the parts.
import { systemClock } from '../../base/clock.ts';
import { applicationTokenRoute } from './application-token.ts';
import { authorizeRoutes } from './authorize-page.ts';
import { controlCommands, type ForgingIssuer } from './control.ts';
import { dataSourceRoutes } from './data-sources.ts';
import { Platform, type PlatformOptions } from './platform.ts';
import { schemaRoutes } from './schemas.ts';
import { startServer } from './server.ts';
import { tokenRoutes } from './token-endpoint.ts';
import { webhookRoutes } from './webhooks.ts';

/** Options of {@link startAdminApi}. */
export interface AdminApiOptions extends Omit<PlatformOptions, 'clock'>, Partial<Pick<PlatformOptions, 'clock'>> {
  readonly issuer: PlatformOptions['issuer'] & ForgingIssuer;
  /** Default 0: any free port. */
  readonly port?: number;
  /** A secret, long and random: whoever has this key controls the platform over HTTP. Undefined: nobody can. */
  readonly controlKey?: string;
}

/** A running administration side: the platform and its address. `close` must be called. */
export type AdminApi = Platform & {
  readonly origin: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  close(): Promise<void>;
};

/**
 * Starts the administration side on 127.0.0.1.
 *
 * @throws AppError `profile_invalid` when the profile lacks one of its sections, `listen_failed` when the port is taken.
 */
export async function startAdminApi(options: AdminApiOptions): Promise<AdminApi> {
  const { issuer, clock = systemClock, port = 0, controlKey: key } = options;
  const platform = new Platform({ ...options, clock });
  const server = await startServer(platform, {
    port,
    control: key === undefined ? undefined : { key, commands: controlCommands(platform, issuer) },
    routes: [
      ...authorizeRoutes(platform),
      ...tokenRoutes(platform),
      applicationTokenRoute(platform),
      ...schemaRoutes(platform.schemas),
      ...dataSourceRoutes(platform),
      ...webhookRoutes(platform),
    ],
  });
  const origin = `http://127.0.0.1:${String(server.port)}`;
  const baseUrl = origin + platform.prefix;
  const { authorizePath, tokenPath } = platform.names.rest;
  return Object.assign(platform, {
    ...{ origin, baseUrl, authorizeUrl: baseUrl + authorizePath, tokenUrl: baseUrl + tokenPath },
    close: async () => {
      await Promise.all([platform.deliveries.close(), server.close()]);
    },
  });
}
