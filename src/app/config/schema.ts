// Every setting with the rule for its value. Defaults and descriptions are in config/default.yaml; a test checks that both files have the
// same settings.
import { isServiceAddress } from '../../base/http-service.ts';
import { SUBJECT } from '../../base/client-trust.ts';
import { LOG_LEVELS } from '../../base/log.ts';
import { LANGUAGE_TAG } from '../../dialog/languages.ts';
import { MAX_DIGITS } from '../../dialog/reply.ts';
import { DIGIT_SILENCE_LIMITS, PATIENCE_LIMITS, WORD_SILENCE_LIMITS } from '../../speech/patience.ts';
import { variableOf, type Camel } from './naming.ts';
import { OPS, sealKey, TRACES } from './ops-schema.ts';
import { optional, record } from './record.ts';
import { RECORDINGS } from './recordings-schema.ts';
import { address, flag, host, integer, list, nameOrPath, oneOf, orNone, path, secret, text, webUrl, word, type Rule } from './rules.ts';
import { isSafeHttp, isSafeSocket, isSafeStream } from './safe-addresses.ts';

export interface Section {
  readonly [name: string]: Rule<unknown> | Section;
}

/** The final values of a section: the same tree with camelCase names. */
export type Compiled<S> =
  S extends Rule<infer T, unknown> ? T : { readonly [K in keyof S as K extends string ? Camel<K> : never]: Compiled<S[K]> };

/** A section as written; everything may be omitted. */
export type Written<S> = S extends Rule<unknown, infer W> ? W : { readonly [K in keyof S]?: Written<S[K]> };

const HOUR_MS = 3_600_000;
const MIB = 1_048_576;

const issuer = webUrl('an https:// address (http:// on loopback only)', isSafeHttp);
const callUrl = webUrl('an https:// address (http:// on loopback only)', isSafeHttp);
const socketUrl = webUrl('wss://HOST or wss://HOST:PORT (ws:// on loopback only) without a slash at the end', isSafeSocket);
const registeredUrl = webUrl(
  'an https:// address, or for the transport websocket wss://HOST or wss://HOST:PORT (http:// and ws:// on loopback only)',
  (url, text) => isSafeHttp(url) || isSafeSocket(url, text),
);
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/iu;
const transport = oneOf('grpc', 'websocket');

const service = webUrl('an https:// address (http:// on loopback only) without user, query and fragment', isServiceAddress);
const streamUrl = webUrl('a wss:// address (ws:// on loopback only)', isSafeStream);
const bearerKey = secret(1000, /^[\x21-\x7e]+$/u, 'visible ASCII characters');

const redisUrl = webUrl(
  'redis://HOST:PORT, or rediss://HOST:PORT for TLS, without user and password, and with /NUMBER for another database than 0',
  (url) =>
    /^rediss?:$/u.test(url.protocol) && url.hostname !== '' && url.username + url.password === '' && /^(?:\/\d{0,3})?$/u.test(url.pathname),
);
const clientSubject = text(500, 'the subject of a certificate such as CN=host, O=Owner', SUBJECT);
const organization = word(512);

const pinnedDataSource = record({ organization_id: word(512), transport, id: word(200) });

const dataSource = record({
  id: word(200),
  organization_id: word(200),
  url: registeredUrl,
  schema_id: optional(text(36, 'a UUID', UUID)),
  audience: text(500),
  subject: text(500),
  nonce: secret(500),
  previous_nonce: optional(secret(500)),
  transport,
});

const organizationBots = record({
  organization_id: word(200),
  bots: list(word(200), 1000),
  default_bot: optional(word(200)),
});

const language = text(35, 'a BCP 47 tag such as es or es-MX', LANGUAGE_TAG);

const lines = record({
  language,
  filler: optional(text(1000)),
  apology: optional(text(1000)),
  transfer: optional(text(1000)),
});

const organizationLimits = record({
  organization_id: word(200),
  max: optional(integer(0, 100_000)),
  max_new_per_s: optional(integer(0, 100_000)),
  weight: optional(integer(1, 1000)),
});

export const SCHEMA = {
  platform: { profile: nameOrPath(), extra_issuers: list(issuer, 100) },
  grpc: {
    host: host(),
    port: integer(0, 65_535),
    max_message_bytes: integer(1024, 16 * MIB),
    max_streams_per_connection: integer(1, 100_000),
    max_connections: integer(1, 100_000),
    unverified_timeout_ms: integer(100, 120_000),
    max_unverified_per_address: integer(1, 100_000),
    handshake_timeout_ms: integer(100, 120_000),
    max_connection_idle_ms: integer(1000, 2 * HOUR_MS),
    keepalive_ms: integer(1000, 2 * HOUR_MS),
    keepalive_timeout_ms: integer(100, 120_000),
    reflection: flag(),
    first_message_timeout_ms: integer(100, 600_000),
  },
  websocket: {
    enabled: flag(),
    listen: oneOf('own', 'ops'),
    host: host(),
    port: integer(0, 65_535),
    path_prefix: orNone(
      text(200, 'a path of 2 to 200 characters that begins with a slash and does not end with one', /^\/[\w./~-]*[\w.~-]$/u),
    ),
    // W-34: 65,536 bytes of audio are 87,384 characters of Base64, and the envelope adds more.
    max_message_bytes: integer(98_304, 16 * MIB),
    max_connections: integer(1, 100_000),
    unverified_timeout_ms: integer(100, 120_000),
    max_unverified_per_address: integer(1, 100_000),
    handshake_timeout_ms: integer(100, 120_000),
    // Without this, anybody with a token could hold sockets without starting a call.
    first_message_timeout_ms: integer(100, 60_000),
    ping_interval_ms: integer(100, 2 * HOUR_MS),
    pong_timeout_ms: integer(100, 120_000),
    list_idle_ms: integer(100, 600_000),
    peer_close_ms: integer(100, 120_000),
    send_no_input_timeout: flag(),
    drain_ms: integer(0, 24 * HOUR_MS),
  },
  tls: {
    mode: oneOf('files', 'off'),
    certificate_file: orNone(path()),
    key_file: orNone(path()),
    client_certificates: oneOf('off', 'required'),
    client_ca_file: orNone(path()),
    client_subjects: list(clientSubject, 50),
    client_subjects_file: orNone(path()),
  },
  auth: {
    enabled: flag(),
    allow_unauthenticated_network: flag(),
    clock_skew_ms: integer(0, 30_000),
    key_set: {
      timeout_ms: integer(100, 30_000),
      max_bytes: integer(1024, MIB),
      cooldown_ms: integer(1000, HOUR_MS),
      stale_ms: integer(0, 168 * HOUR_MS),
    },
    remembered_tokens: integer(0, 1_000_000),
    data_sources: list(dataSource, 10_000),
  },
  admin: {
    enabled: flag(),
    base_url: orNone(service),
    fail_startup: flag(),
    login: oneOf('service_app', 'oauth_refresh', 'static_token'),
    organizations: list(organization, 5000),
    token_expiry_buffer_s: integer(0, 3600),
    store: { file: path(), keys: list(sealKey, 5) },
    integration: {
      client_id: orNone(word(500)),
      client_secret: orNone(secret(500)),
      redirect_uri: webUrl('an http:// address on loopback, or an https:// address', isSafeHttp),
    },
    service_app: { client_id: orNone(word(500)), client_secret: orNone(secret(500)) },
    oauth: { client_id: orNone(word(500)), client_secret: orNone(secret(500)), refresh_token: orNone(secret(4000)) },
    static_token: { access_token: orNone(secret(4000)) },
    data_sources: {
      url: orNone(callUrl),
      websocket_url: orNone(socketUrl),
      transports: list(transport, 2),
      audience: orNone(text(500)),
      subject: orNone(text(500)),
      token_lifetime_minutes: integer(1, 1440),
      renewal_lead_minutes: integer(1, 1439),
      retry_interval_s: integer(1, 3600),
      check_interval_s: integer(10, 86_400),
      pinned: list(pinnedDataSource, 5000),
    },
    authorization_hook: {
      command: list(text(4096), 100),
      url: orNone(service),
      key: orNone(bearerKey),
      timeout_ms: integer(100, 120_000),
    },
    webhooks: {
      target_url: orNone(callUrl),
      host: host(),
      port: integer(0, 65_535),
      path: text(200, 'a path of 1 to 200 characters that begins with a slash', /^\/[\w./~-]*$/u),
      tls: flag(),
      unverified_timeout_ms: integer(100, 120_000),
      max_unverified_per_address: integer(1, 100),
    },
  },
  sessions: {
    max: integer(1, 100_000),
    reserved_percent: integer(0, 50),
    max_per_organization: integer(0, 100_000),
    max_new_per_s_per_organization: integer(0, 100_000),
    organizations: list(organizationLimits, 10_000),
    idle_timeout_ms: integer(1000, 24 * HOUR_MS),
    max_duration_ms: integer(1000, 24 * HOUR_MS),
    sweep_ms: integer(100, 600_000),
    max_snapshot_bytes: integer(4096, 64 * MIB),
  },
  store: {
    kind: oneOf('memory', 'redis'),
    keys: list(sealKey, 5),
    redis: {
      url: redisUrl,
      sentinels: list(address(), 9),
      sentinel_name: orNone(word(200)),
      sentinel_user: orNone(word(200)),
      sentinel_password: orNone(secret(1000)),
      user: orNone(word(200)),
      password: orNone(secret(1000)),
      ca_file: orNone(path()),
      key_prefix: word(100),
      timeout_ms: integer(50, 10_000),
    },
  },
  peers: {
    host: orNone(host()),
    port: integer(0, 65_535),
    address: orNone(word(253)),
    max_turns: integer(1, 100_000),
  },
  turns: {
    deadline_ms: integer(100, 600_000),
    filler_after_ms: integer(0, 600_000),
    max_ahead_ms: integer(1000, 1_200_000),
    max_farewell_ms: integer(0, 120_000),
    max_open: integer(1, 200_000),
    slow_reader_ms: integer(100, 600_000),
    max_queued_bytes: integer(65_536, 64 * MIB),
  },
  overload: {
    max_loop_delay_ms: integer(0, 60_000),
    max_rss_bytes: integer(0, 1_048_576 * MIB),
    max_heap_percent: integer(0, 100),
  },
  media: { mode: oneOf('chunk', 'wav'), welcome_barge_in: flag(), transcript: flag(), reveal_prompt_text: flag() },
  listen: {
    accept: oneOf('speech', 'keys', 'both'),
    digits: integer(1, MAX_DIGITS),
    inter_digit_ms: integer(100, 60_000),
    terminator: oneOf('#', '*', 'none'),
    no_input_ms: integer(0, 600_000),
  },
  speech: {
    start_ms: integer(...PATIENCE_LIMITS.startMs),
    interrupt_ms: integer(...PATIENCE_LIMITS.interruptMs),
    end_silence_ms: integer(...PATIENCE_LIMITS.endSilenceMs),
    resume_grace_ms: integer(...PATIENCE_LIMITS.resumeGraceMs),
    digit_silence_ms: integer(...DIGIT_SILENCE_LIMITS),
    max_utterance_ms: integer(...PATIENCE_LIMITS.maxUtteranceMs),
    pre_roll_ms: integer(...PATIENCE_LIMITS.preRollMs),
    finished_silence_ms: integer(...WORD_SILENCE_LIMITS),
    unfinished_silence_ms: integer(...WORD_SILENCE_LIMITS),
    resume_prompt: flag(),
  },
  prompts: {
    language,
    filler: orNone(text(1000)),
    apology: orNone(text(1000)),
    transfer: orNone(text(1000)),
    languages: list(lines, 100),
  },
  bots: {
    folder: orNone(path()),
    default_bot: orNone(word(200)),
    organizations: list(organizationBots, 10_000),
    others: oneOf('all', 'none'),
    prompts_folder: orNone(path()),
    watch: flag(),
  },
  synthesizer: {
    engine: oneOf('flite', 'http', 'none'),
    voice: orNone(word(100)),
    voices: list(record({ language, voice: word(100) }), 100),
    timeout_ms: integer(100, 120_000),
    cache_folder: orNone(path()),
    cache_max_bytes: integer(MIB, 4096 * MIB),
    http: {
      url: orNone(service),
      key: orNone(bearerKey),
      model: orNone(word(200)),
      format: oneOf('pcm', 'wav'),
      rate_hz: integer(8000, 48_000),
      speed_percent: integer(25, 400),
      ssml: flag(),
      first_byte_ms: integer(100, 60_000),
    },
  },
  recognizer: {
    engine: oneOf('none', 'command', 'http'),
    command: list(text(4096), 100),
    timeout_ms: integer(100, 120_000),
    http: {
      url: orNone(service),
      key: orNone(bearerKey),
      model: orNone(word(200)),
      language: orNone(word(20)),
      prompt: orNone(text(1000)),
    },
    stream: {
      url: orNone(streamUrl),
      key: orNone(bearerKey),
      model: orNone(word(200)),
      pause_ms: integer(100, 1000),
    },
  },
  ops: OPS,
  recordings: RECORDINGS,
  telemetry: { timeline_calls: integer(0, 10_000) },
  traces: TRACES,
  log: { level: oneOf(...LOG_LEVELS) },
  control: { socket: orNone(path()) },
  shutdown: { notice_ms: integer(0, 120_000), grace_ms: integer(0, 600_000) },
} as const satisfies Section;

type Keys<S, Prefix extends string = ''> = {
  [K in keyof S & string]: S[K] extends Rule<unknown> ? `${Prefix}${K}` : Keys<S[K], `${Prefix}${K}.`>;
}[keyof S & string];

/** A dotted key as operators write it: `auth.key_set.timeout_ms`. */
export type SettingKey = Keys<typeof SCHEMA>;

/** Distinguishes a setting from a section. */
export function isRule(node: Rule<unknown> | Section): node is Rule<unknown> {
  return typeof node.read === 'function';
}

/** Every setting with its rule, in the order of the schema. */
export const RULES: ReadonlyMap<string, Rule<unknown>> = new Map(leaves(SCHEMA, ''));

/** Every setting by the name of its environment variable. */
export const KEYS_BY_VARIABLE: ReadonlyMap<string, string> = new Map([...RULES.keys()].map((key) => [variableOf(key), key]));

export function isSettingKey(key: string): key is SettingKey {
  return RULES.has(key);
}

function leaves(section: Section, prefix: string): [string, Rule<unknown>][] {
  return Object.entries(section).flatMap(([name, node]) =>
    isRule(node) ? [[`${prefix}${name}`, node] satisfies [string, Rule<unknown>]] : leaves(node, `${prefix}${name}.`),
  );
}
