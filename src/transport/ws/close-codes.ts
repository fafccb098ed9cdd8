// The one mapping of our error codes to the ERROR message (W-43) and the close code (W-44) of a socket, and the one mapping of
// the library's own errors to ours.
import { AppError, type ErrorCode } from '../../base/errors.ts';
import { CLOSE_CODE, type SocketErrorCode } from '../../contract/envelope.ts';

export type CloseCode = (typeof CLOSE_CODE)[keyof typeof CLOSE_CODE];

/** How a socket ends. Default text: the error's own message. */
export interface SocketAnswer {
  readonly code: SocketErrorCode;
  readonly status: number;
  readonly close: CloseCode;
  readonly text?: string;
}

const INTERNAL: SocketAnswer = { code: 'upstream_error', status: 502, close: CLOSE_CODE.internal, text: 'internal error' };
const STRANGER: SocketAnswer = { code: 'unauthorized', status: 401, close: CLOSE_CODE.policy, text: 'token refused' };

/** The answer to every error code; a missing one does not compile. */
const ANSWERS = {
  agent_conflict: { code: 'bad_request', status: 409, close: CLOSE_CODE.policy },
  agent_unknown: { code: 'bad_request', status: 404, close: CLOSE_CODE.policy },
  authorization_needed: INTERNAL,
  bad_message: { code: 'bad_request', status: 400, close: CLOSE_CODE.protocol },
  bot_failed: INTERNAL,
  bot_invalid: INTERNAL,
  bot_outdated: INTERNAL,
  bot_timeout: INTERNAL,
  certificate_invalid: INTERNAL,
  config_invalid: INTERNAL,
  control_failed: INTERNAL,
  data_source_unclear: INTERNAL,
  foreign_organization: { code: 'unauthorized', status: 401, close: CLOSE_CODE.policy },
  home_unreachable: { code: 'rate_limit', status: 429, close: CLOSE_CODE.overloaded },
  hook_failed: INTERNAL,
  internal: INTERNAL,
  keys_unavailable: STRANGER,
  listen_failed: INTERNAL,
  login_failed: INTERNAL,
  login_needed: INTERNAL,
  org_not_registered: INTERNAL,
  overloaded: { code: 'rate_limit', status: 429, close: CLOSE_CODE.overloaded },
  platform_answer_invalid: INTERNAL,
  platform_refused: INTERNAL,
  platform_unavailable: INTERNAL,
  profile_invalid: INTERNAL,
  prompt_unusable: INTERNAL,
  recognition_failed: INTERNAL,
  recording_unreadable: INTERNAL,
  reply_too_long: INTERNAL,
  shutting_down: { code: 'rate_limit', status: 429, close: CLOSE_CODE.goingAway },
  slow_reader: { code: 'rate_limit', status: 429, close: CLOSE_CODE.overloaded },
  state_unreadable: INTERNAL,
  store_failed: INTERNAL,
  store_unavailable: { code: 'rate_limit', status: 429, close: CLOSE_CODE.overloaded },
  synthesis_failed: INTERNAL,
  turn_timeout: { code: 'timeout', status: 408, close: CLOSE_CODE.policy },
  unauthenticated: STRANGER,
  // Also for a binary message (W-0A).
  unsupported_audio: { code: 'unsupported_media', status: 415, close: CLOSE_CODE.unsupported },
} as const satisfies Record<ErrorCode, SocketAnswer>;

/** The answer on a socket whose conversation was restarted on another socket (G-28, W-2A). */
export const CONVERSATION_ANSWER: SocketAnswer = ANSWERS.agent_conflict;

/** Why the library closes a socket, by the library's error codes. All other codes mean a malformed frame: 1002. */
const BREACHES: Readonly<Record<string, string>> = {
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 'a message was larger than it may be; closed with 1009',
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'a message was larger than it may be; closed with 1009',
  WS_ERR_INVALID_UTF8: 'a message was no Unicode; closed with 1007',
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 'a message came in too many parts; closed with 1008',
};

/** Why the library closed a socket. Repeats nothing of the message. */
export function breachOf(error: Error): AppError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return new AppError('bad_message', BREACHES[code] ?? 'a frame broke the protocol of WebSockets; closed with 1002');
}

/** How an error ends a socket. Its cause and details are not sent. */
export function socketAnswer({ code }: AppError): SocketAnswer {
  return ANSWERS[code];
}
