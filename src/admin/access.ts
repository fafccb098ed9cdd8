// The two ways to obtain tokens of organizations: through a service app that organizations authorize, or with tokens of a single
// organization (7.1).
import { linkAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { alwaysRenewing, type KeepingParts, type Renewing } from './kept-tokens.ts';
import { IntegrationTokens } from './oauth/integration-tokens.ts';
import { login, type LoginOptions } from './oauth/login.ts';
import { TokenRequests } from './oauth/token-request.ts';
import type { OrganizationTokens } from './lifecycle/served-organizations.ts';
import { Organizations, tokensKey } from './organizations.ts';
import { fixedToken, ownTokens, ownTokensKey } from './own-tokens.ts';
import type { PlatformAddress } from './platform-address.ts';
import { decodeId, encodeId, tryDecodeId } from './platform-id.ts';
import { ApplicationTokens } from './rest/application-token.ts';
import { RestClient, type RestClientOptions } from './rest/rest-client.ts';
import { Webhooks } from './rest/webhooks.ts';
import type { IntegrationCredentials, OAuthTokens, ServiceAppCredentials } from './tokens.ts';

/** Settings of the way to obtain tokens. Everything except client ids is secret. */
export type AccessSettings =
  | { readonly type: 'service_app'; readonly integration: IntegrationCredentials; readonly serviceApp: ServiceAppCredentials }
  | {
      readonly type: 'oauth_refresh';
      readonly client: ServiceAppCredentials;
      readonly refreshToken: string;
      /** The organization that the tokens belong to, in any spelling. */
      readonly organization: string;
    }
  | { readonly type: 'static_token'; readonly accessToken: string };

/** The part of a service app that webhooks need. */
export interface ServiceAppSide {
  /** The plain client id of the app. */
  readonly applicationId: string;
  /** The client id of the app, in the spelling of webhook filters. */
  readonly filterId: string;
  readonly names: NonNullable<PlatformProfile['webhook']>;
  readonly idScheme: string;
  /** Requests for webhooks with the tokens of the integration. */
  readonly api: Webhooks;
}

/** When tokens expire. Other rooms learn nothing else about tokens. */
export interface Lifetimes extends Pick<OAuthTokens, 'expiresAtMs' | 'refreshExpiresAtMs'> {
  /** False when the platform gave no refresh token. */
  readonly isRefreshable: boolean;
}

/** When a pair of tokens expires. */
export function lifetimesOf({ expiresAtMs, refreshExpiresAtMs, refreshToken }: OAuthTokens): Lifetimes {
  return { expiresAtMs, refreshExpiresAtMs, isRefreshable: refreshToken !== undefined };
}

/** The integration: a person logs in with it, and it requests the tokens of organizations. */
export interface IntegrationSide {
  /** The scopes that a login requests. */
  readonly scopes: readonly string[];
  /**
   * Logs in and stores the tokens.
   *
   * @throws what {@link login} throws, and AppError of the store; then the tokens are lost.
   */
  logIn(how: Pick<LoginOptions, 'show' | 'limitMs' | 'listen' | 'paste'>, signal: AbortSignal): Promise<Lifetimes>;
  /**
   * Refreshes the tokens when the access token or the refresh token is about to expire: an unused refresh token expires (5.1). Call it at
   * least daily.
   *
   * @throws AppError `login_needed` when nobody has logged in or the platform refuses the refresh token, and as requests do.
   */
  keepAlive(signal: AbortSignal): Promise<void>;
}

/** The open access. Call `close`. */
export interface Access {
  readonly organizations: OrganizationTokens;
  /** The key in the store for the tokens of an organization (a plain UUID); undefined when its tokens are not stored. */
  readonly tokensKey: (organizationId: string) => string | undefined;
  /** Undefined for the tokens of a single organization, which need no login. */
  readonly integration: IntegrationSide | undefined;
  /** Undefined for the tokens of a single organization. */
  readonly serviceApp: ServiceAppSide | undefined;
  /**
   * Starts and retries no renewal from now on. When the process is about to end or its store belongs to another process, a new refresh
   * token could not be stored and would be lost.
   *
   * @param why - the error for callers that need a renewal; default: we are stopping.
   */
  rest(why?: AppError): void;
  /** Resolves when a running renewal has ended and its tokens are stored. */
  close(): Promise<void>;
}

interface AccessParts extends KeepingParts {
  readonly address: PlatformAddress;
  readonly profile: PlatformProfile;
  /** Called before every change on the platform, except token requests. Default: all changes are allowed. */
  readonly confirm?: RestClientOptions['confirm'];
  /** Whether to request the first token of an organization. Default true. */
  readonly asksForFirst?: boolean | undefined;
}

const NO_SERVICE_APP = { integration: undefined, serviceApp: undefined };

/**
 * Opens the access for these settings. Sends no request yet.
 *
 * @throws AppError `profile_invalid` for a profile without ids or webhooks, `bad_message` for an invalid client id.
 */
export function openAccess(settings: AccessSettings, parts: AccessParts): Access {
  let reason: AppError | undefined;
  const resting = linkAbort();
  const { renewing: mayRenew = alwaysRenewing } = parts;
  const renewing: Renewing = (renewal) => (reason === undefined ? mayRenew(renewal) : Promise.reject(reason));
  const rest = (why = new AppError('shutting_down', 'no token is renewed any more: we stop')): void => {
    reason ??= why;
    resting.abort('shutdown');
  };
  return { ...openWay(settings, { ...parts, renewing, resting: resting.signal }), rest };
}

/** Aborts when no more tokens may be requested. */
interface WayParts extends AccessParts {
  readonly resting: AbortSignal;
}

function openWay(settings: AccessSettings, parts: WayParts): Omit<Access, 'rest'> {
  const { address, store, clock, log, bufferSeconds, renewing, resting } = parts;
  if (settings.type === 'service_app') return serviceAppAccess(settings, parts);
  if (settings.type === 'static_token') {
    const tokens = fixedToken(settings.accessToken);
    const organizations = { tokensOf: () => tokens, forget: () => Promise.resolve() };
    return { organizations, ...NO_SERVICE_APP, tokensKey: () => undefined, close: () => Promise.resolve() };
  }
  const requests = new TokenRequests({ address, clock, log, resting, credentials: settings.client });
  const { refreshToken } = settings;
  const tokens = ownTokens({ store, requests, refreshToken, clock, log, bufferSeconds, renewing });
  const ownId = tryDecodeId(settings.organization, 'ORGANIZATION', parts.profile.ids?.urnScheme ?? '');
  return {
    organizations: { tokensOf: () => tokens, forget: () => tokens.forget() },
    ...NO_SERVICE_APP,
    tokensKey: (organizationId) => (organizationId === ownId ? ownTokensKey(refreshToken) : undefined),
    close: () => tokens.close(),
  };
}

function serviceAppAccess(
  { integration: credentials, serviceApp }: Extract<AccessSettings, { readonly type: 'service_app' }>,
  { address, profile, store, clock, log, bufferSeconds, renewing, asksForFirst, confirm, resting }: WayParts,
): Omit<Access, 'rest'> {
  const identity = serviceAppIdentity(serviceApp, profile);
  const { idScheme } = identity;
  const common = { address, clock, log };
  const requests = new TokenRequests({ ...common, resting, credentials });
  const integration = new IntegrationTokens({ store, requests, clock, log, bufferSeconds, renewing });
  const webhooks = new Webhooks(new RestClient({ ...common, confirm, tokens: integration }));
  const forTokens = new RestClient({ ...common, resting, tokens: integration });
  const organizations = new Organizations({
    ...{ store, clock, log, idScheme, bufferSeconds, renewing, asksForFirst },
    applications: new ApplicationTokens({ rest: forTokens, app: serviceApp, idScheme, clock }),
    requests: new TokenRequests({ ...common, resting, credentials: serviceApp }),
  });
  return {
    ...{ organizations, tokensKey },
    integration: {
      scopes: profile.oauth?.integrationScopes ?? [],
      logIn: async (how, signal) => {
        const { oauth } = profile;
        if (oauth === undefined) {
          throw new AppError('profile_invalid', `the profile "${profile.name}" names no scopes: give it the section "oauth"`);
        }
        const { integrationScopes: scopes, pkce } = oauth;
        const { redirectUri } = credentials;
        const tokens = await login({ ...how, requests, redirectUri, scopes, pkce, clock }, signal);
        await integration.save(tokens);
        return lifetimesOf(tokens);
      },
      keepAlive: (signal) => integration.keepAlive(signal),
    },
    serviceApp: { ...identity, api: webhooks },
    close: async () => {
      await organizations.close();
      await integration.close();
    },
  };
}

/**
 * The ids of the service app.
 *
 * @throws AppError `profile_invalid` for a profile without ids or webhooks, `bad_message` for an invalid client id.
 */
export function serviceAppIdentity(
  { clientId }: Pick<ServiceAppCredentials, 'clientId'>,
  profile: PlatformProfile,
): Omit<ServiceAppSide, 'api'> {
  const { ids, webhook: names } = profile;
  if (ids === undefined || names === undefined) {
    throw new AppError('profile_invalid', `the profile "${profile.name}" has no service apps: give it the sections "ids" and "webhook"`);
  }
  const applicationId = decodeId(clientId, 'APPLICATION', ids.urnScheme);
  return { applicationId, filterId: encodeId(applicationId, 'APPLICATION', ids.urnScheme), names, idScheme: ids.urnScheme };
}
