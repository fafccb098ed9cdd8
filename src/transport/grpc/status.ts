// The one mapping of our error codes to gRPC status.
import { status, type ServerErrorResponse, type StatusObject } from '@grpc/grpc-js';
import type { AppError, ErrorCode } from '../../base/errors.ts';

/** Status and text of one code. Default text: the error's own message. */
interface WireStatus {
  readonly code: status;
  readonly text?: string;
}

const INTERNAL: WireStatus = { code: status.INTERNAL, text: 'internal error' };

/** The status of every code; a missing one does not compile. */
const GRPC_STATUS = {
  agent_conflict: { code: status.INVALID_ARGUMENT },
  agent_unknown: { code: status.NOT_FOUND },
  authorization_needed: INTERNAL,
  bad_message: { code: status.INVALID_ARGUMENT },
  bot_failed: INTERNAL,
  bot_invalid: INTERNAL,
  bot_outdated: INTERNAL,
  bot_timeout: INTERNAL,
  certificate_invalid: INTERNAL,
  config_invalid: INTERNAL,
  control_failed: INTERNAL,
  data_source_unclear: INTERNAL,
  foreign_organization: { code: status.PERMISSION_DENIED },
  home_unreachable: { code: status.UNAVAILABLE },
  hook_failed: INTERNAL,
  internal: INTERNAL,
  keys_unavailable: { code: status.UNAUTHENTICATED, text: 'token refused' },
  listen_failed: INTERNAL,
  login_failed: INTERNAL,
  login_needed: INTERNAL,
  org_not_registered: INTERNAL,
  overloaded: { code: status.RESOURCE_EXHAUSTED },
  platform_answer_invalid: INTERNAL,
  platform_refused: INTERNAL,
  platform_unavailable: INTERNAL,
  profile_invalid: INTERNAL,
  prompt_unusable: INTERNAL,
  recognition_failed: INTERNAL,
  recording_unreadable: INTERNAL,
  reply_too_long: INTERNAL,
  shutting_down: { code: status.UNAVAILABLE },
  slow_reader: { code: status.RESOURCE_EXHAUSTED },
  state_unreadable: INTERNAL,
  store_failed: INTERNAL,
  store_unavailable: { code: status.UNAVAILABLE },
  synthesis_failed: INTERNAL,
  turn_timeout: { code: status.DEADLINE_EXCEEDED },
  unauthenticated: { code: status.UNAUTHENTICATED, text: 'token refused' },
  unsupported_audio: { code: status.INVALID_ARGUMENT },
} as const satisfies Record<ErrorCode, WireStatus>;

/** The status of an error. Its cause and details are not sent. */
export function grpcStatus(error: AppError): ServerErrorResponse & Pick<StatusObject, 'code' | 'details'> {
  const { code, text }: WireStatus = GRPC_STATUS[error.code];
  return { name: error.code, message: text ?? error.message, code, details: text ?? error.message };
}
