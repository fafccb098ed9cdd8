// Rules between the settings of the administration. None holds anything against settings of what is not switched on.
import { hasSocketPort, unless, type CompiledSettings, type Relation } from './relation.ts';
import type { SettingKey } from './schema.ts';

type Admin = CompiledSettings['admin'];
type Login = Admin['login'];

/** What each way of login needs: its key, and where its value is. */
const NEEDED: readonly (readonly [Login, SettingKey, (admin: Admin) => string | undefined])[] = [
  ['service_app', 'admin.integration.client_id', ({ integration }) => integration.clientId],
  ['service_app', 'admin.integration.client_secret', ({ integration }) => integration.clientSecret],
  ['service_app', 'admin.service_app.client_id', ({ serviceApp }) => serviceApp.clientId],
  ['service_app', 'admin.service_app.client_secret', ({ serviceApp }) => serviceApp.clientSecret],
  ['oauth_refresh', 'admin.oauth.client_id', ({ oauth }) => oauth.clientId],
  ['oauth_refresh', 'admin.oauth.client_secret', ({ oauth }) => oauth.clientSecret],
  ['oauth_refresh', 'admin.oauth.refresh_token', ({ oauth }) => oauth.refreshToken],
  ['static_token', 'admin.static_token.access_token', ({ staticToken }) => staticToken.accessToken],
];

const WHEN_ON: readonly Relation[] = [
  ({ admin }) =>
    unless(
      admin.store.keys.length > 0,
      'admin.store.keys',
      'the sealed store of the credentials needs a key',
      'make one with `openssl rand -hex 32`, keep it in a file, and write [{ file: PATH }]',
    ),
  ({ admin: { dataSources } }) =>
    unless(
      !dataSources.transports.includes('grpc') || dataSources.url !== undefined,
      'admin.data_sources.url',
      'data sources are registered with an address',
      'write the address at which the platform reaches this server over gRPC, or take grpc out of admin.data_sources.transports',
    ),
  ({ admin: { dataSources } }) =>
    unless(
      !dataSources.transports.includes('websocket') || dataSources.websocketUrl !== undefined,
      'admin.data_sources.websocket_url',
      'data sources for WebSocket are registered with an address of their own (W-03)',
      'write wss://HOST or wss://HOST:PORT at which the platform reaches this server, or take websocket out of admin.data_sources.transports',
    ),
  ({ admin: { dataSources }, websocket }) =>
    unless(
      !dataSources.transports.includes('websocket') || websocket.enabled,
      'admin.data_sources.transports',
      'data sources are registered for a transport that is served',
      'set websocket.enabled to true, or take websocket out',
    ),
  ({ admin: { dataSources } }) =>
    unless(
      new Set(dataSources.transports).size === Math.max(dataSources.transports.length, 1),
      'admin.data_sources.transports',
      'data sources are registered for at least one transport, and once for each',
      'write [grpc], [websocket] or [grpc, websocket]',
    ),
  ({ admin: { dataSources } }) =>
    unless(
      dataSources.renewalLeadMinutes < dataSources.tokenLifetimeMinutes,
      'admin.data_sources.renewal_lead_minutes',
      'a token is renewed after it was made (J-02)',
      'lower admin.data_sources.renewal_lead_minutes or raise admin.data_sources.token_lifetime_minutes',
    ),
  ...NEEDED.map(
    ([login, key, valueOf]): Relation =>
      ({ admin }) =>
        unless(
          admin.login !== login || valueOf(admin) !== undefined,
          key,
          `admin.login ${login} needs ${key}`,
          "set it, or the environment variable that the platform's profile gives it (docs/config.md)",
        ),
  ),
  ({ admin: { login, organizations } }) =>
    unless(
      login === 'service_app' || organizations.length === 1,
      'admin.organizations',
      'tokens of their own are those of one organization',
      'name this one organization, or set admin.login to service_app',
    ),
  ({ admin: { login, webhooks, organizations } }) =>
    unless(
      login !== 'service_app' || webhooks.targetUrl !== undefined || organizations.length > 0,
      'admin.webhooks.target_url',
      'organizations become known by webhooks or by admin.organizations',
      'write the address at which the platform reaches admin.webhooks.port, or name the organizations',
    ),
  (settings) => {
    const { admin, grpc, ops } = settings;
    const { targetUrl, port } = admin.webhooks;
    const isTaken = targetUrl !== undefined && port !== 0 && (port === grpc.port || port === ops.port || hasSocketPort(settings, port));
    return unless(!isTaken, 'admin.webhooks.port', 'webhooks have a port of their own', 'choose another admin.webhooks.port');
  },
  ({ admin: { webhooks }, tls }) =>
    unless(
      !webhooks.tls || tls.mode === 'files',
      'admin.webhooks.tls',
      'webhooks over TLS have the certificate of the media server',
      'set tls.mode to files, or let a proxy end TLS and set admin.webhooks.tls to false',
    ),
];

/** All of them; each has a test. */
export const ADMIN_RELATIONS = WHEN_ON.map(
  (relation): Relation =>
    (settings) =>
      settings.admin.enabled ? relation(settings) : undefined,
);
