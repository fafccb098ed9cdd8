// Rules between two or more settings.
import { isLoopback } from '../../base/loopback.ts';
import { isSocketOrigin } from '../../base/socket-origin.ts';
import { FLITE_VOICES, isFliteVoice } from '../../voice/synthesizers/flite.ts';
import { ADMIN_RELATIONS } from './admin-relations.ts';
import { hasSocketPort, unless, type CompiledSettings, type Relation } from './relation.ts';
import type { SettingKey } from './schema.ts';

/** All of them; each has a test. */
export const RELATIONS: readonly Relation[] = [
  ...ADMIN_RELATIONS,
  onLoopback('grpc.host', ({ grpc }) => grpc.host),
  onLoopback('websocket.host', ({ websocket }) => (websocket.enabled && websocket.listen === 'own' ? websocket.host : undefined)),
  onLoopback('ops.host', ({ websocket, ops }) => (websocket.enabled && websocket.listen === 'ops' ? ops.host : undefined)),
  ({ auth, admin }) =>
    unless(
      !auth.enabled || admin.enabled || auth.dataSources.length > 0,
      'auth.data_sources',
      'the token check needs at least one data source, otherwise it refuses every call',
      'add the values your data source was registered with (docs/config.md), set admin.enabled to true, or set auth.enabled to false on a loopback address',
    ),
  ({ websocket, auth, admin }) =>
    unless(
      !websocket.enabled ||
        !auth.enabled ||
        auth.dataSources.some(({ transport }) => transport === 'websocket') ||
        (admin.enabled && admin.dataSources.transports.includes('websocket')),
      'websocket.enabled',
      'calls over WebSocket need a data source of their own, otherwise the token check refuses each of them (J-2E)',
      'add one with transport websocket to auth.data_sources, name websocket in admin.data_sources.transports where admin.enabled is true, or set websocket.enabled to false',
    ),
  ({ auth }) =>
    unless(
      new Set(auth.dataSources.map((source) => source.id)).size === auth.dataSources.length,
      'auth.data_sources',
      'the id of a data source appears once',
      'take the repeated data source out',
    ),
  ({ auth }) =>
    unless(
      auth.dataSources.every((source) => source.nonce !== source.previousNonce),
      'auth.data_sources',
      'previous_nonce differs from nonce',
      'take previous_nonce out, or set it to the nonce before the last renewal',
    ),
  ({ auth }) =>
    unless(
      auth.dataSources.every(({ transport, url }) => (transport === 'websocket') === isSocketOrigin(url)),
      'auth.data_sources',
      'the url of a data source has the form of its transport: wss://HOST or wss://HOST:PORT for websocket, https://… for grpc (W-03)',
      'write the url as it was registered, and the transport whose schema it was registered with',
    ),
  ...(['certificate', 'key'] as const).map(
    (part): Relation =>
      ({ tls }) =>
        unless(
          tls.mode === 'off' || tls[`${part}File`] !== undefined,
          `tls.${part}_file`,
          `tls.mode files needs tls.${part}_file`,
          'name the PEM file, or set tls.mode to off behind a TLS terminator',
        ),
  ),
  ({ tls }) =>
    unless(
      tls.mode === 'files' || tls.clientCertificates === 'off',
      'tls.client_certificates',
      'client certificates are asked for where TLS ends',
      'set tls.mode to files, or tls.client_certificates to off and let the TLS terminator ask for them',
    ),
  ({ sessions }) =>
    unless(
      sessions.idleTimeoutMs <= sessions.maxDurationMs,
      'sessions.idle_timeout_ms',
      'a call may not be idle for longer than it may last',
      'lower sessions.idle_timeout_ms or raise sessions.max_duration_ms',
    ),
  ({ store }) =>
    unless(
      store.kind === 'memory' || store.keys.length > 0,
      'store.keys',
      'what lies in a shared store is sealed, and every server needs the same key for it',
      'make one with `openssl rand -hex 32`, keep it in a file, and write [{ file: PATH }]',
    ),
  ({ store: { redis } }) =>
    unless(
      redis.sentinels.length > 0 === (redis.sentinelName !== undefined),
      'store.redis.sentinel_name',
      'sentinels are asked for a primary by its name, and only sentinels are',
      'set both store.redis.sentinels and store.redis.sentinel_name, or neither',
    ),
  ({ sessions }) =>
    unless(
      isUnique(sessions.organizations.map(({ organizationId }) => organizationId)),
      'sessions.organizations',
      'an organization appears once',
      'put its limits into one entry',
    ),
  ({ bots }) =>
    unless(
      isUnique(bots.organizations.map(({ organizationId }) => organizationId)),
      'bots.organizations',
      'an organization has one list of bots',
      'put the lists of the repeated organization_id together',
    ),
  ({ bots }) =>
    unless(
      bots.organizations.every((listed) => isUnique(listed.bots)),
      'bots.organizations',
      'a bot stands once in the list of an organization',
      'take the repeated bot out',
    ),
  ({ bots }) =>
    unless(
      bots.organizations.every(({ bots: ids, defaultBot }) => defaultBot === undefined || ids.includes(defaultBot)),
      'bots.organizations',
      'the default_bot of an organization is one of its bots',
      'add it to bots, or choose one of bots as default_bot',
    ),
  ({ synthesizer: { engine, voice } }) =>
    unless(
      engine !== 'flite' || voice === undefined || isFliteVoice(voice),
      'synthesizer.voice',
      `flite has no such voice; it has ${FLITE_VOICES.join(', ')}`,
      'name one of them, or leave the setting out',
    ),
  ({ synthesizer: { http, timeoutMs } }) =>
    unless(
      http.firstByteMs <= timeoutMs,
      'synthesizer.http.first_byte_ms',
      'the first byte of the speech is due before its last one',
      'lower synthesizer.http.first_byte_ms or raise synthesizer.timeout_ms',
    ),
  ({ recognizer: { engine, command } }) =>
    unless(
      engine !== 'command' || command.length > 0,
      'recognizer.command',
      'recognizer.engine command needs a command',
      'name the program and its arguments, or choose another recognizer.engine',
    ),
  ...(['synthesizer', 'recognizer'] as const).flatMap((room) =>
    (['url', 'model'] as const).map(
      (part): Relation =>
        ({ [room]: { engine, http } }) =>
          unless(
            engine !== 'http' || http[part] !== undefined,
            `${room}.http.${part}`,
            `${room}.engine http needs ${room}.http.${part}`,
            `name it (docs/voice.md), or choose another ${room}.engine`,
          ),
    ),
  ),
  ({ ops, grpc }) =>
    unless(
      ops.port === 0 || ops.port !== grpc.port,
      'ops.port',
      'health checks and media have ports of their own',
      'choose another ops.port',
    ),
  ({ websocket, sessions }) =>
    unless(
      !websocket.enabled || websocket.maxConnections > sessions.max,
      'websocket.max_connections',
      'there are more connections for calls over WebSocket than calls, or a call too many hears nothing where it should hear that it is not taken',
      'raise websocket.max_connections, or lower sessions.max',
    ),
  (settings) =>
    unless(
      !hasSocketPort(settings, settings.grpc.port) && !hasSocketPort(settings, settings.ops.port),
      'websocket.port',
      'calls over WebSocket have a port of their own',
      'choose another websocket.port, or set websocket.listen to ops where TLS ends before this server',
    ),
];

/** Without the token check, what `addressOf` names is a loopback address; undefined when nobody listens there. */
function onLoopback(host: SettingKey, addressOf: (settings: CompiledSettings) => string | undefined): Relation {
  return (settings) => {
    const { auth } = settings;
    return unless(
      auth.enabled || auth.allowUnauthenticatedNetwork || isLoopback(addressOf(settings) ?? 'localhost'),
      'auth.enabled',
      'without the token check the server listens on a loopback address only, because anybody could place calls (P-11)',
      `set auth.enabled to true, ${host} to 127.0.0.1, or, where a network of your own guards it, auth.allow_unauthenticated_network to true`,
    );
  };
}

function isUnique(ids: readonly string[]): boolean {
  return new Set(ids).size === ids.length;
}
