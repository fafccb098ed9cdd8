// Rules between settings of the administration. Settings of disabled features are ignored.
import { hasSocketPort, type Relation } from './relation.ts';
import type { SettingKey } from './schema.ts';
import type { CompiledSettings } from './settings.ts';

type Admin = CompiledSettings['admin'];
type Login = Admin['login'];

/** The setting that each login method needs. */
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
  {
    key: 'admin.store.keys',
    holds: ({ admin }) => admin.store.keys.length > 0,
    rule: 'the sealed store of the credentials needs a key',
    mend: 'make one with `openssl rand -hex 32`, keep it in a file, and write [{ file: PATH }]',
  },
  {
    key: 'admin.data_sources.url',
    holds: ({ admin: { dataSources } }) => !dataSources.transports.includes('grpc') || dataSources.url !== undefined,
    rule: 'data sources are registered with an address',
    mend: 'write the address at which the platform reaches this server over gRPC, or take grpc out of admin.data_sources.transports',
  },
  {
    key: 'admin.data_sources.websocket_url',
    holds: ({ admin: { dataSources } }) => !dataSources.transports.includes('websocket') || dataSources.websocketUrl !== undefined,
    rule: 'data sources for WebSocket are registered with an address of their own (W-03)',
    mend: 'write wss://HOST or wss://HOST:PORT at which the platform reaches this server, or take websocket out of admin.data_sources.transports',
  },
  {
    key: 'admin.data_sources.transports',
    holds: ({ admin: { dataSources }, websocket }) => !dataSources.transports.includes('websocket') || websocket.enabled,
    rule: 'data sources are registered for a transport that is served',
    mend: 'set websocket.enabled to true, or take websocket out',
  },
  {
    key: 'admin.data_sources.transports',
    holds: ({ admin: { dataSources } }) => new Set(dataSources.transports).size === Math.max(dataSources.transports.length, 1),
    rule: 'data sources are registered for at least one transport, and once for each',
    mend: 'write [grpc], [websocket] or [grpc, websocket]',
  },
  {
    key: 'admin.data_sources.renewal_lead_minutes',
    holds: ({ admin: { dataSources } }) => dataSources.renewalLeadMinutes < dataSources.tokenLifetimeMinutes,
    rule: 'a token is renewed after it was made (J-02)',
    mend: 'lower admin.data_sources.renewal_lead_minutes or raise admin.data_sources.token_lifetime_minutes',
  },
  ...NEEDED.map(([login, key, valueOf]): Relation => ({
    key,
    holds: ({ admin }) => admin.login !== login || valueOf(admin) !== undefined,
    rule: `admin.login ${login} needs ${key}`,
    mend: "set it, or the environment variable that the platform's profile gives it (docs/config.md)",
  })),
  {
    key: 'admin.organizations',
    holds: ({ admin: { login, organizations } }) => login === 'service_app' || organizations.length === 1,
    rule: 'tokens of their own are those of one organization',
    mend: 'name this one organization, or set admin.login to service_app',
  },
  {
    key: 'admin.webhooks.target_url',
    holds: ({ admin: { login, webhooks, organizations } }) =>
      login !== 'service_app' || webhooks.targetUrl !== undefined || organizations.length > 0,
    rule: 'organizations become known by webhooks or by admin.organizations',
    mend: 'write the address at which the platform reaches admin.webhooks.port, or name the organizations',
  },
  {
    key: 'admin.webhooks.port',
    holds: (settings) => {
      const { admin, grpc, ops } = settings;
      const { targetUrl, port } = admin.webhooks;
      return targetUrl === undefined || port === 0 || (port !== grpc.port && port !== ops.port && !hasSocketPort(settings, port));
    },
    rule: 'webhooks have a port of their own',
    mend: 'choose another admin.webhooks.port',
  },
  {
    key: 'admin.webhooks.tls',
    holds: ({ admin: { webhooks }, tls }) => !webhooks.tls || tls.mode === 'files',
    rule: 'webhooks over TLS have the certificate of the media server',
    mend: 'set tls.mode to files, or let a proxy end TLS and set admin.webhooks.tls to false',
  },
];

/** All rules; each has a test. */
export const ADMIN_RELATIONS = WHEN_ON.map((relation): Relation => ({
  ...relation,
  holds: (settings) => !settings.admin.enabled || relation.holds(settings),
}));
