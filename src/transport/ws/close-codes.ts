// Our error codes as the platform sees them on a socket: the ERROR message (W-43) and the close code behind it (W-44), and what
// the library closes a socket for by itself. The only place where one becomes the other.
import { AppError, type ErrorCode } from '../../base/errors.ts';
import { CLOSE_CODE, type SocketErrorCode } from '../../contract/envelope.ts';

/** One of the codes that a socket is closed with. */
export type CloseCode = (typeof CLOSE_CODE)[keyof typeof CLOSE_CODE];

/** What ends a socket. Without a text, the error's own message is sent: it is written for the other side. */
export interface SocketAnswer {
  readonly code: SocketErrorCode;
  readonly status: number;
  readonly close: CloseCode;
  readonly text?: string;
}

const INTERNAL: SocketAnswer = { code: 'upstream_error', status: 502, close: CLOSE_CODE.internal, text: 'internal error' };
const STRANGER: SocketAnswer = { code: 'unauthorized', status: 401, close: CLOSE_CODE.policy, text: 'token refused' };

/** Every code has its answer; a new code does not compile until it stands here. */
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
  reply_too_long: INTERNAL,
  shutting_down: { code: 'rate_limit', status: 429, close: CLOSE_CODE.goingAway },
  slow_reader: { code: 'rate_limit', status: 429, close: CLOSE_CODE.overloaded },
  state_unreadable: INTERNAL,
  store_failed: INTERNAL,
  store_unavailable: { code: 'rate_limit', status: 429, close: CLOSE_CODE.overloaded },
  synthesis_failed: INTERNAL,
  turn_timeout: { code: 'timeout', status: 408, close: CLOSE_CODE.policy },
  unauthenticated: STRANGER,
  // Also for a message that is no text (W-0A).
  unsupported_audio: { code: 'unsupported_media', status: 415, close: CLOSE_CODE.unsupported },
} as const satisfies Record<ErrorCode, SocketAnswer>;

/** The answer on a socket whose conversation has begun anew on another one (G-28, W-2A). */
export const CONVERSATION_ANSWER: SocketAnswer = ANSWERS.agent_conflict;

/** What the library closes a socket for, by its codes. With all others a frame is wrong in itself: 1002. */
const BREACHES: Readonly<Record<string, string>> = {
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 'a message was larger than it may be; closed with 1009',
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'a message was larger than it may be; closed with 1009',
  WS_ERR_INVALID_UTF8: 'a message was no Unicode; closed with 1007',
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 'a message came in too many parts; closed with 1008',
};

/** Why a socket of the library closes itself. Says nothing of what came. */
export function breachOf(error: Error): AppError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return new AppError('bad_message', BREACHES[code] ?? 'a frame broke the protocol of WebSockets; closed with 1002');
}

/** What an error ends a socket with; its cause and details stay behind. */
export function socketAnswer({ code }: AppError): SocketAnswer {
  return ANSWERS[code];
}
