// Rules between two or more settings. Each one names the keys it looks at, so that it stays silent when one of them is
// wrong in itself.
import { isLoopback } from '../../base/loopback.ts';
import { FLITE_VOICES, isFliteVoice } from '../../voice/synthesizers/flite.ts';
import { ADMIN_RELATIONS } from './admin-relations.ts';
import type { Relation } from './relation.ts';

/** All of them; each has a test. */
export const RELATIONS: readonly Relation[] = [
  ...ADMIN_RELATIONS,
  {
    keys: ['auth.enabled', 'grpc.host', 'auth.allow_unauthenticated_network'],
    holds: ({ auth, grpc }) => auth.enabled || auth.allowUnauthenticatedNetwork || isLoopback(grpc.host),
    rule: 'without the token check the server listens on a loopback address only, because anybody could place calls (P-11)',
    mend: 'set auth.enabled to true, grpc.host to 127.0.0.1, or, where a network of your own guards it, auth.allow_unauthenticated_network to true',
  },
  {
    keys: ['auth.data_sources', 'auth.enabled', 'admin.enabled'],
    holds: ({ auth, admin }) => !auth.enabled || admin.enabled || auth.dataSources.length > 0,
    rule: 'the token check needs at least one data source, otherwise it refuses every call',
    mend: 'add the values your data source was registered with (docs/config.md), set admin.enabled to true, or set auth.enabled to false on a loopback address',
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
  ...(['certificate', 'key'] as const).map((part): Relation => ({
    keys: [`tls.${part}_file`, 'tls.mode'],
    holds: ({ tls }) => tls.mode === 'off' || tls[`${part}File`] !== undefined,
    rule: `tls.mode files needs tls.${part}_file`,
    mend: 'name the PEM file, or set tls.mode to off behind a TLS terminator',
  })),
  {
    keys: ['sessions.idle_timeout_ms', 'sessions.max_duration_ms'],
    holds: ({ sessions }) => sessions.idleTimeoutMs <= sessions.maxDurationMs,
    rule: 'a call may not be idle for longer than it may last',
    mend: 'lower sessions.idle_timeout_ms or raise sessions.max_duration_ms',
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
];

function isUnique(ids: readonly string[]): boolean {
  return new Set(ids).size === ids.length;
}
