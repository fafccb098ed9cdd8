// How we come to tokens of organizations: through a service app that organizations authorize, or as one organization with
// tokens of its own (7.1).
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { IntegrationTokens } from './oauth/integration-tokens.ts';
import { TokenRequests } from './oauth/token-request.ts';
import type { OrganizationTokens } from './lifecycle/served-organizations.ts';
import { Organizations } from './organizations.ts';
import { fixedToken, ownTokens } from './own-tokens.ts';
import type { PlatformAddress } from './platform-address.ts';
import { decodeId, encodeId } from './platform-id.ts';
import { ApplicationTokens } from './rest/application-token.ts';
import { RestClient } from './rest/rest-client.ts';
import { Webhooks } from './rest/webhooks.ts';
import type { SecretStore } from './secret-store.ts';
import type { IntegrationCredentials, ServiceAppCredentials } from './tokens.ts';

/** The ways to tokens. Everything in here but client ids is secret. */
export type AccessSettings =
  | { readonly type: 'service_app'; readonly integration: IntegrationCredentials; readonly serviceApp: ServiceAppCredentials }
  | { readonly type: 'oauth_refresh'; readonly client: ServiceAppCredentials; readonly refreshToken: string }
  | { readonly type: 'static_token'; readonly accessToken: string };

/** A service app, as far as webhooks need it. */
export interface ServiceAppSide {
  /** Its plain client id. */
  readonly applicationId: string;
  /** The same as filters of webhooks spell it. */
  readonly filterId: string;
  readonly names: NonNullable<PlatformProfile['webhook']>;
  readonly idScheme: string;
  /** With the tokens of the integration. */
  readonly api: Webhooks;
}

/** Open access. `close` must be called. */
export interface Access {
  readonly organizations: OrganizationTokens;
  /** Undefined for a single organization. */
  readonly serviceApp: ServiceAppSide | undefined;
  close(): Promise<void>;
}

interface AccessParts {
  readonly address: PlatformAddress;
  readonly profile: PlatformProfile;
  readonly store: SecretStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Makes what a way to tokens needs; asks nobody for one yet.
 *
 * @throws AppError `profile_invalid` for a profile without ids or webhooks, `bad_message` for a client id that is none.
 */
export function openAccess(settings: AccessSettings, parts: AccessParts): Access {
  const { address, store, clock, log } = parts;
  if (settings.type === 'service_app') return serviceAppAccess(settings, parts);
  if (settings.type === 'static_token') {
    const tokens = fixedToken(settings.accessToken);
    const organizations = { tokensOf: () => tokens, forget: () => Promise.resolve() };
    return { organizations, serviceApp: undefined, close: () => Promise.resolve() };
  }
  const requests = new TokenRequests({ address, clock, log, credentials: settings.client });
  const tokens = ownTokens({ store, requests, refreshToken: settings.refreshToken, clock, log });
  return {
    organizations: { tokensOf: () => tokens, forget: () => tokens.forget() },
    serviceApp: undefined,
    close: () => tokens.close(),
  };
}

function serviceAppAccess(
  { integration: credentials, serviceApp }: Extract<AccessSettings, { readonly type: 'service_app' }>,
  { address, profile, store, clock, log }: AccessParts,
): Access {
  if (profile.ids === undefined || profile.webhook === undefined) {
    throw new AppError('profile_invalid', `the profile "${profile.name}" has no service apps: give it the sections "ids" and "webhook"`);
  }
  const idScheme = profile.ids.urnScheme;
  const common = { address, clock, log };
  const integration = new IntegrationTokens({ store, requests: new TokenRequests({ ...common, credentials }), clock, log });
  const rest = new RestClient({ ...common, tokens: integration });
  const organizations = new Organizations({
    ...{ store, clock, log, idScheme },
    applications: new ApplicationTokens({ rest, app: serviceApp, idScheme, clock }),
    requests: new TokenRequests({ ...common, credentials: serviceApp }),
  });
  const applicationId = decodeId(serviceApp.clientId, 'APPLICATION', idScheme);
  const filterId = encodeId(applicationId, 'APPLICATION', idScheme);
  return {
    organizations,
    serviceApp: { applicationId, filterId, names: profile.webhook, idScheme, api: new Webhooks(rest) },
    close: async () => {
      await organizations.close();
      await integration.close();
    },
  };
}
