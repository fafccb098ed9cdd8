// The platform's messages as our inputs. Words of the wire stop here.
import { AppError } from '../../base/errors.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { bytesOfBase64 } from '../../contract/base64.ts';
import type { SocketAudio, SocketRequest } from '../../contract/envelope.ts';
import { MAX_SOCKET_CALLER_AUDIO_BYTES, MAX_STRUCT_DEPTH } from '../../contract/limits.ts';
import { dtmfCharacterOfName, type VOICE_ENCODING } from '../../contract/numbers.ts';
import type { AudioEncoding, AudioInput, Input } from '../../dialog/input.ts';
import { audioInput, checkedCall, checkedParameters, digitsOf, type WireCall } from '../caller-request.ts';

/** The wire names encodings as text. */
const ENCODINGS = {
  UNSPECIFIED_FORMAT: undefined,
  LINEAR16_FORMAT: 'linear16',
  MULAW_FORMAT: 'mulaw',
  ALAW_FORMAT: 'alaw',
} as const satisfies Partial<Record<keyof typeof VOICE_ENCODING, AudioEncoding | undefined>>;

type SocketInputs = SocketRequest['voice_va_input_type'];
type SocketEvent = NonNullable<SocketInputs['event_input']>;

/** The call that a message names. @throws AppError `bad_message`, see {@link checkedCall}. */
export function callFromEnvelope(request: SocketRequest): WireCall {
  return checkedCall({
    conversationId: request.conversation_id,
    organizationId: request.customer_org_id,
    agentId: request.virtual_agent_id ?? '',
    vendorConfig: request.vendor_specific_config ?? '',
  });
}

/**
 * The input of a message. Undefined: an event of a later version of the contract, which is ignored (G-90).
 *
 * @throws AppError `bad_message` unless exactly one input is set, or when that input is too large or not Base64 (W-34);
 * `unsupported_audio` for an encoding or a rate that cannot be decoded (G-31).
 */
export function inputFromEnvelope({ voice_va_input_type: inputs }: SocketRequest): Input | undefined {
  const audio = inputs.audio_input ?? undefined;
  const dtmf = inputs.dtmf_input ?? undefined;
  const event = inputs.event_input ?? undefined;
  if (audio !== undefined && dtmf === undefined && event === undefined) return audioFromEnvelope(audio);
  if (event !== undefined && dtmf === undefined && audio === undefined) return eventFromEnvelope(event);
  if (dtmf !== undefined && event === undefined && audio === undefined) {
    return { kind: 'dtmf', digits: digitsOf(dtmf.dtmf_events ?? [], dtmfCharacterOfName) };
  }
  throw new AppError('bad_message', 'voice_va_input_type must hold exactly one of audio_input, dtmf_input and event_input');
}

function audioFromEnvelope({ caller_audio_b64: text, encoding, sample_rate_hertz: rateHz }: SocketAudio): AudioInput {
  const bytes = typeof text === 'string' ? bytesOfBase64(text, MAX_SOCKET_CALLER_AUDIO_BYTES) : undefined;
  return audioInput(bytes, encodingOf(encoding ?? undefined), rateHz ?? undefined);
}

function encodingOf(name: string | undefined): AudioEncoding | undefined {
  if (name === undefined) return undefined;
  if (isEncoding(name)) return ENCODINGS[name];
  // The encoding is not quoted: it is untrusted and would appear in the log.
  throw new AppError('unsupported_audio', 'caller audio has an encoding that this server does not know');
}

function isEncoding(name: string): name is keyof typeof ENCODINGS {
  return Object.hasOwn(ENCODINGS, name);
}

function eventFromEnvelope({ event_type: type, name, parameters }: SocketEvent): Input | undefined {
  switch (type ?? 'UNSPECIFIED_INPUT') {
    case 'SESSION_START':
      return { kind: 'session_start', name: name ?? '', parameters: parametersFromEnvelope(parameters) };
    case 'SESSION_END':
      return { kind: 'session_end' };
    case 'NO_INPUT':
      return { kind: 'no_input' };
    case 'START_OF_DTMF':
      return { kind: 'dtmf_start' };
    case 'CUSTOM_EVENT':
      return { kind: 'custom_event', name: name ?? '', parameters: parametersFromEnvelope(parameters) };
    case 'UNSPECIFIED_INPUT':
      throw new AppError('bad_message', 'event_input names no event type');
    default:
      return undefined;
  }
}

function parametersFromEnvelope(parameters: JsonObject = {}): JsonObject {
  // Checked before any other recursion over the data.
  demandShallow(parameters, 1);
  return checkedParameters(parameters);
}

function demandShallow(value: JsonValue, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_STRUCT_DEPTH) {
    throw new AppError('bad_message', `free data nests deeper than ${String(MAX_STRUCT_DEPTH)} levels`, {
      details: { limit: MAX_STRUCT_DEPTH },
    });
  }
  for (const member of Object.values(value)) demandShallow(member, depth + 1);
}
