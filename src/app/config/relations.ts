// Rules between two or more settings. Each one names the keys it looks at, so that it stays silent when one of them is
// wrong in itself.
import { isLoopback } from '../../base/loopback.ts';
import { isSocketOrigin } from '../../base/socket-origin.ts';
import { FLITE_VOICES, isFliteVoice } from '../../voice/synthesizers/flite.ts';
import { ADMIN_RELATIONS } from './admin-relations.ts';
import { hasSocketPort, type CompiledSettings, type Relation } from './relation.ts';
import type { SettingKey } from './schema.ts';

/** All of them; each has a test. */
export const RELATIONS: readonly Relation[] = [
  ...ADMIN_RELATIONS,
  onLoopback('grpc.host', [], ({ grpc }) => grpc.host),
  onLoopback('websocket.host', ['websocket.enabled', 'websocket.listen'], ({ websocket }) =>
    websocket.enabled && websocket.listen === 'own' ? websocket.host : undefined,
  ),
  onLoopback('ops.host', ['websocket.enabled', 'websocket.listen'], ({ websocket, ops }) =>
    websocket.enabled && websocket.listen === 'ops' ? ops.host : undefined,
  ),
  {
    keys: ['auth.data_sources', 'auth.enabled', 'admin.enabled'],
    holds: ({ auth, admin }) => !auth.enabled || admin.enabled || auth.dataSources.length > 0,
    rule: 'the token check needs at least one data source, otherwise it refuses every call',
    mend: 'add the values your data source was registered with (docs/config.md), set admin.enabled to true, or set auth.enabled to false on a loopback address',
  },
  {
    keys: ['websocket.enabled', 'auth.enabled', 'auth.data_sources', 'admin.enabled', 'admin.data_sources.transports'],
    holds: ({ websocket, auth, admin }) =>
      !websocket.enabled ||
      !auth.enabled ||
      auth.dataSources.some(({ transport }) => transport === 'websocket') ||
      (admin.enabled && admin.dataSources.transports.includes('websocket')),
    rule: 'calls over WebSocket need a data source of their own, otherwise the token check refuses each of them (J-2E)',
    mend: 'add one with transport websocket to auth.data_sources, name websocket in admin.data_sources.transports where admin.enabled is true, or set websocket.enabled to false',
  },
  {
    keys: ['auth.data_sources'],
    holds: ({ auth }) => new Set(auth.dataSources.map((source) => source.id)).size === auth.dataSources.length,
    rule: 'the id of a data source appears once',
    mend: 'take the repeated data source out',
  },
  {
    keys: ['auth.data_sources'],
    holds: ({ auth }) => auth.dataSources.every((source) => source.nonce !== source.previousNonce),
    rule: 'previous_nonce differs from nonce',
    mend: 'take previous_nonce out, or set it to the nonce before the last renewal',
  },
  {
    keys: ['auth.data_sources'],
    holds: ({ auth }) => auth.dataSources.every(({ transport, url }) => (transport === 'websocket') === isSocketOrigin(url)),
    rule: 'the url of a data source has the form of its transport: wss://HOST or wss://HOST:PORT for websocket, https://… for grpc (W-03)',
    mend: 'write the url as it was registered, and the transport whose schema it was registered with',
  },
  ...(['certificate', 'key'] as const).map((part): Relation => ({
    keys: [`tls.${part}_file`, 'tls.mode'],
    holds: ({ tls }) => tls.mode === 'off' || tls[`${part}File`] !== undefined,
    rule: `tls.mode files needs tls.${part}_file`,
    mend: 'name the PEM file, or set tls.mode to off behind a TLS terminator',
  })),
  {
    keys: ['tls.client_certificates', 'tls.mode'],
    holds: ({ tls }) => tls.mode === 'files' || tls.clientCertificates === 'off',
    rule: 'client certificates are asked for where TLS ends',
    mend: 'set tls.mode to files, or tls.client_certificates to off and let the TLS terminator ask for them',
  },
  {
    keys: ['sessions.idle_timeout_ms', 'sessions.max_duration_ms'],
    holds: ({ sessions }) => sessions.idleTimeoutMs <= sessions.maxDurationMs,
    rule: 'a call may not be idle for longer than it may last',
    mend: 'lower sessions.idle_timeout_ms or raise sessions.max_duration_ms',
  },
  {
    keys: ['store.keys', 'store.kind'],
    holds: ({ store }) => store.kind === 'memory' || store.keys.length > 0,
    rule: 'what lies in a shared store is sealed, and every server needs the same key for it',
    mend: 'make one with `openssl rand -hex 32`, keep it in a file, and write [{ file: PATH }]',
  },
  {
    keys: ['store.redis.sentinel_name', 'store.redis.sentinels'],
    holds: ({ store: { redis } }) => redis.sentinels.length > 0 === (redis.sentinelName !== undefined),
    rule: 'sentinels are asked for a primary by its name, and only sentinels are',
    mend: 'set both store.redis.sentinels and store.redis.sentinel_name, or neither',
  },
  {
    keys: ['sessions.organizations'],
    holds: ({ sessions }) => isUnique(sessions.organizations.map(({ organizationId }) => organizationId)),
    rule: 'an organization appears once',
    mend: 'put its limits into one entry',
  },
  {
    keys: ['bots.organizations'],
    holds: ({ bots }) => isUnique(bots.organizations.map(({ organizationId }) => organizationId)),
    rule: 'an organization has one list of bots',
    mend: 'put the lists of the repeated organization_id together',
  },
  {
    keys: ['bots.organizations'],
    holds: ({ bots }) => bots.organizations.every((listed) => isUnique(listed.bots)),
    rule: 'a bot stands once in the list of an organization',
    mend: 'take the repeated bot out',
  },
  {
    keys: ['bots.organizations'],
    holds: ({ bots }) => bots.organizations.every(({ bots: ids, defaultBot }) => defaultBot === undefined || ids.includes(defaultBot)),
    rule: 'the default_bot of an organization is one of its bots',
    mend: 'add it to bots, or choose one of bots as default_bot',
  },
  {
    keys: ['synthesizer.voice', 'synthesizer.engine'],
    holds: ({ synthesizer: { engine, voice } }) => engine !== 'flite' || voice === undefined || isFliteVoice(voice),
    rule: `flite has no such voice; it has ${FLITE_VOICES.join(', ')}`,
    mend: 'name one of them, or leave the setting out',
  },
  {
    keys: ['synthesizer.http.first_byte_ms', 'synthesizer.timeout_ms'],
    holds: ({ synthesizer: { http, timeoutMs } }) => http.firstByteMs <= timeoutMs,
    rule: 'the first byte of the speech is due before its last one',
    mend: 'lower synthesizer.http.first_byte_ms or raise synthesizer.timeout_ms',
  },
  {
    keys: ['recognizer.command', 'recognizer.engine'],
    holds: ({ recognizer: { engine, command } }) => engine !== 'command' || command.length > 0,
    rule: 'recognizer.engine command needs a command',
    mend: 'name the program and its arguments, or choose another recognizer.engine',
  },
  ...(['synthesizer', 'recognizer'] as const).flatMap((room) =>
    (['url', 'model'] as const).map((part): Relation => ({
      keys: [`${room}.http.${part}`, `${room}.engine`],
      holds: ({ [room]: { engine, http } }) => engine !== 'http' || http[part] !== undefined,
      rule: `${room}.engine http needs ${room}.http.${part}`,
      mend: `name it (docs/voice.md), or choose another ${room}.engine`,
    })),
  ),
  {
    keys: ['ops.port', 'grpc.port'],
    holds: ({ ops, grpc }) => ops.port === 0 || ops.port !== grpc.port,
    rule: 'health checks and media have ports of their own',
    mend: 'choose another ops.port',
  },
  {
    keys: ['websocket.max_connections', 'websocket.enabled', 'sessions.max'],
    holds: ({ websocket, sessions }) => !websocket.enabled || websocket.maxConnections > sessions.max,
    rule: 'there are more connections for calls over WebSocket than calls, or a call too many hears nothing where it should hear that it is not taken',
    mend: 'raise websocket.max_connections, or lower sessions.max',
  },
  {
    keys: ['websocket.port', 'websocket.enabled', 'websocket.listen', 'grpc.port', 'ops.port'],
    holds: (settings) => !hasSocketPort(settings, settings.grpc.port) && !hasSocketPort(settings, settings.ops.port),
    rule: 'calls over WebSocket have a port of their own',
    mend: 'choose another websocket.port, or set websocket.listen to ops where TLS ends before this server',
  },
];

/** Without the token check, what `addressOf` names is a loopback address; undefined when nobody listens there. */
function onLoopback(
  host: SettingKey,
  others: readonly SettingKey[],
  addressOf: (settings: CompiledSettings) => string | undefined,
): Relation {
  return {
    keys: ['auth.enabled', host, 'auth.allow_unauthenticated_network', ...others],
    holds: (settings) => {
      const { auth } = settings;
      return auth.enabled || auth.allowUnauthenticatedNetwork || isLoopback(addressOf(settings) ?? 'localhost');
    },
    rule: 'without the token check the server listens on a loopback address only, because anybody could place calls (P-11)',
    mend: `set auth.enabled to true, ${host} to 127.0.0.1, or, where a network of your own guards it, auth.allow_unauthenticated_network to true`,
  };
}

function isUnique(ids: readonly string[]): boolean {
  return new Set(ids).size === ids.length;
}
