// Rules between two or more settings.
import { isLoopback } from '../../base/loopback.ts';
import { isSocketOrigin } from '../../base/socket-origin.ts';
import { inLanguage, LANGUAGES } from '../../dialog/languages.ts';
import type { GivenLines } from '../../dialog/languages/language.ts';
import { FLITE_VOICES, isFliteVoice } from '../../voice/synthesizers/flite.ts';
import { ADMIN_RELATIONS } from './admin-relations.ts';
import { hasSocketPort, type Relation } from './relation.ts';
import type { SettingKey } from './schema.ts';
import type { CompiledSettings } from './settings.ts';

/** All rules; each has a test. */
export const RELATIONS: readonly Relation[] = [
  ...ADMIN_RELATIONS,
  onLoopback('grpc.host', ({ grpc }) => grpc.host),
  onLoopback('websocket.host', ({ websocket }) => (websocket.enabled && websocket.listen === 'own' ? websocket.host : undefined)),
  onLoopback('ops.host', ({ websocket, ops }) => (websocket.enabled && websocket.listen === 'ops' ? ops.host : undefined)),
  {
    key: 'auth.data_sources',
    holds: ({ auth, admin }) => !auth.enabled || admin.enabled || auth.dataSources.length > 0,
    rule: 'the token check needs at least one data source, otherwise it refuses every call',
    mend: 'add the values your data source was registered with (docs/config.md), set admin.enabled to true, or set auth.enabled to false on a loopback address',
  },
  {
    key: 'websocket.enabled',
    holds: ({ websocket, auth, admin }) =>
      !websocket.enabled ||
      !auth.enabled ||
      auth.dataSources.some(({ transport }) => transport === 'websocket') ||
      (admin.enabled && admin.dataSources.transports.includes('websocket')),
    rule: 'calls over WebSocket need a data source of their own, otherwise the token check refuses each of them (J-2E)',
    mend: 'add one with transport websocket to auth.data_sources, name websocket in admin.data_sources.transports where admin.enabled is true, or set websocket.enabled to false',
  },
  {
    key: 'auth.data_sources',
    holds: ({ auth }) => new Set(auth.dataSources.map((source) => source.id)).size === auth.dataSources.length,
    rule: 'the id of a data source appears once',
    mend: 'take the repeated data source out',
  },
  {
    key: 'auth.data_sources',
    holds: ({ auth }) => auth.dataSources.every((source) => source.nonce !== source.previousNonce),
    rule: 'previous_nonce differs from nonce',
    mend: 'take previous_nonce out, or set it to the nonce before the last renewal',
  },
  {
    key: 'auth.data_sources',
    holds: ({ auth }) => auth.dataSources.every(({ transport, url }) => (transport === 'websocket') === isSocketOrigin(url)),
    rule: 'the url of a data source has the form of its transport: wss://HOST or wss://HOST:PORT for websocket, https://… for grpc (W-03)',
    mend: 'write the url as it was registered, and the transport whose schema it was registered with',
  },
  ...(['certificate', 'key'] as const).map((part): Relation => ({
    key: `tls.${part}_file`,
    holds: ({ tls }) => tls.mode === 'off' || tls[`${part}File`] !== undefined,
    rule: `tls.mode files needs tls.${part}_file`,
    mend: 'name the PEM file, or set tls.mode to off behind a TLS terminator',
  })),
  {
    key: 'tls.client_certificates',
    holds: ({ tls }) => tls.mode === 'files' || tls.clientCertificates === 'off',
    rule: 'client certificates are asked for where TLS ends',
    mend: 'set tls.mode to files, or tls.client_certificates to off and let the TLS terminator ask for them',
  },
  {
    key: 'sessions.idle_timeout_ms',
    holds: ({ sessions }) => sessions.idleTimeoutMs <= sessions.maxDurationMs,
    rule: 'a call may not be idle for longer than it may last',
    mend: 'lower sessions.idle_timeout_ms or raise sessions.max_duration_ms',
  },
  {
    key: 'store.keys',
    holds: ({ store }) => store.kind === 'memory' || store.keys.length > 0,
    rule: 'what lies in a shared store is sealed, and every server needs the same key for it',
    mend: 'make one with `openssl rand -hex 32`, keep it in a file, and write [{ file: PATH }]',
  },
  {
    key: 'store.redis.sentinel_name',
    holds: ({ store: { redis } }) => redis.sentinels.length > 0 === (redis.sentinelName !== undefined),
    rule: 'sentinels are asked for a primary by its name, and only sentinels are',
    mend: 'set both store.redis.sentinels and store.redis.sentinel_name, or neither',
  },
  {
    key: 'sessions.organizations',
    holds: ({ sessions }) => isUnique(sessions.organizations.map(({ organizationId }) => organizationId)),
    rule: 'an organization appears once',
    mend: 'put its limits into one entry',
  },
  {
    key: 'bots.organizations',
    holds: ({ bots }) => isUnique(bots.organizations.map(({ organizationId }) => organizationId)),
    rule: 'an organization has one list of bots',
    mend: 'put the lists of the repeated organization_id together',
  },
  {
    key: 'bots.organizations',
    holds: ({ bots }) => bots.organizations.every((listed) => isUnique(listed.bots)),
    rule: 'a bot stands once in the list of an organization',
    mend: 'take the repeated bot out',
  },
  {
    key: 'bots.organizations',
    holds: ({ bots }) => bots.organizations.every(({ bots: ids, defaultBot }) => defaultBot === undefined || ids.includes(defaultBot)),
    rule: 'the default_bot of an organization is one of its bots',
    mend: 'add it to bots, or choose one of bots as default_bot',
  },
  {
    key: 'prompts.languages',
    holds: ({ prompts }) => prompts.languages.every((lines) => hasLines(lines.language, lines)),
    rule: 'each of prompts.languages has all three lines, unless the server knows them itself',
    mend: 'add filler, apology and transfer',
  },
  {
    key: 'prompts.language',
    holds: ({ prompts }) => hasLines(prompts.language, prompts),
    rule: `the server knows no lines in this language; it knows ${[...LANGUAGES.keys()].join(', ')}`,
    mend: 'set prompts.filler, prompts.apology and prompts.transfer',
  },
  {
    key: 'synthesizer.voices',
    holds: ({ synthesizer: { engine, voices } }) => engine !== 'flite' || voices.every(({ voice }) => isFliteVoice(voice)),
    rule: `flite has no such voice; it has ${FLITE_VOICES.join(', ')}`,
    mend: 'name one of them, or leave the setting out',
  },
  {
    key: 'synthesizer.voice',
    holds: ({ synthesizer: { engine, voice } }) => engine !== 'flite' || voice === undefined || isFliteVoice(voice),
    rule: `flite has no such voice; it has ${FLITE_VOICES.join(', ')}`,
    mend: 'name one of them, or leave the setting out',
  },
  {
    key: 'synthesizer.http.first_byte_ms',
    holds: ({ synthesizer: { http, timeoutMs } }) => http.firstByteMs <= timeoutMs,
    rule: 'the first byte of the speech is due before its last one',
    mend: 'lower synthesizer.http.first_byte_ms or raise synthesizer.timeout_ms',
  },
  {
    key: 'recognizer.command',
    holds: ({ recognizer: { engine, command } }) => engine !== 'command' || command.length > 0,
    rule: 'recognizer.engine command needs a command',
    mend: 'name the program and its arguments, or choose another recognizer.engine',
  },
  ...(['synthesizer', 'recognizer'] as const).flatMap((room) =>
    (['url', 'model'] as const).map((part): Relation => ({
      key: `${room}.http.${part}`,
      holds: ({ [room]: { engine, http } }) => engine !== 'http' || http[part] !== undefined,
      rule: `${room}.engine http needs ${room}.http.${part}`,
      mend: `name it (docs/voice.md), or choose another ${room}.engine`,
    })),
  ),
  {
    key: 'recognizer.stream.model',
    holds: ({ recognizer: { stream } }) => (stream.url === undefined) === (stream.model === undefined),
    rule: 'recognizer.stream needs an address and a model',
    mend: 'name both recognizer.stream.url and recognizer.stream.model (docs/voice.md), or neither',
  },
  {
    key: 'ops.console.listen_token',
    holds: ({ ops: { console } }) => console.listenToken === undefined || console.listenToken !== console.viewToken,
    rule: 'the tokens of the two roles differ',
    mend: 'make another one with `openssl rand -hex 32`',
  },
  {
    key: 'recordings.keys',
    holds: ({ recordings }) => !recordings.enabled || recordings.keys.length > 0,
    rule: 'recordings are sealed with a key',
    mend: 'make one with `openssl rand -hex 32` and name its file in recordings.keys, or set recordings.enabled to false',
  },
  {
    key: 'recordings.max_call_bytes',
    holds: ({ recordings: { maxBytes, maxCallBytes } }) => maxBytes === 0 || maxCallBytes <= maxBytes,
    rule: 'one recording fits into all of them',
    mend: 'raise recordings.max_bytes, or lower recordings.max_call_bytes',
  },
  {
    key: 'ops.port',
    holds: ({ ops, grpc }) => ops.port === 0 || ops.port !== grpc.port,
    rule: 'health checks and media have ports of their own',
    mend: 'choose another ops.port',
  },
  {
    key: 'websocket.max_connections',
    holds: ({ websocket, sessions }) => !websocket.enabled || websocket.maxConnections > sessions.max,
    rule: 'there are more connections for calls over WebSocket than calls, or a caller too many hears nothing instead of a refusal',
    mend: 'raise websocket.max_connections, or lower sessions.max',
  },
  {
    key: 'websocket.port',
    holds: (settings) => !hasSocketPort(settings, settings.grpc.port) && !hasSocketPort(settings, settings.ops.port),
    rule: 'calls over WebSocket have a port of their own',
    mend: 'choose another websocket.port, or set websocket.listen to ops where TLS ends before this server',
  },
];

/** Demands a loopback address while the token check is off. @param addressOf - undefined when nothing listens. */
function onLoopback(host: SettingKey, addressOf: (settings: CompiledSettings) => string | undefined): Relation {
  return {
    key: 'auth.enabled',
    holds: (settings) => {
      const { enabled, allowUnauthenticatedNetwork } = settings.auth;
      return enabled || allowUnauthenticatedNetwork || isLoopback(addressOf(settings) ?? 'localhost');
    },
    rule: 'without the token check the server listens on a loopback address only, because anybody could place calls (P-11)',
    mend: `set auth.enabled to true, ${host} to 127.0.0.1, or, where a network of your own guards it, auth.allow_unauthenticated_network to true`,
  };
}

function isUnique(ids: readonly string[]): boolean {
  return new Set(ids).size === ids.length;
}

function hasLines(language: string, { filler, apology, transfer }: GivenLines): boolean {
  return inLanguage(LANGUAGES, language) !== undefined || [filler, apology, transfer].every((line) => line !== undefined);
}
