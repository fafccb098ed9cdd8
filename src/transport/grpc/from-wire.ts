// Maps the platform's messages to inputs. No name of the wire goes further; audio is not copied.
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { WireAudio } from '../../contract/audio-frames.ts';
import { dtmfCharacter, EVENT_INPUT, VOICE_ENCODING, type MediaRequest } from '../../contract/grpc.ts';
import { jsonFromStruct } from '../../contract/struct.ts';
import type { AudioEncoding, AudioInput, Input } from '../../dialog/input.ts';
import { audioInput, checkedCall, checkedParameters, digitsOf, type WireCall } from '../caller-request.ts';

/**
 * The call that a message names.
 *
 * @throws AppError `bad_message`, see {@link checkedCall}.
 */
export function callFromWire(request: MediaRequest): WireCall {
  return checkedCall({
    conversationId: request.conversation_id ?? '',
    organizationId: request.customer_org_id ?? '',
    agentId: request.virtual_agent_id ?? '',
    vendorConfig: request.vendor_specific_config ?? '',
  });
}

/**
 * The input of a message. Undefined: an event of a later version of the contract, which is ignored (G-90).
 *
 * @throws AppError `bad_message` when no input is set (G-18) or the input is too large, `unsupported_audio` for an encoding
 * or a rate that cannot be decoded (G-31).
 */
export function inputFromWire(request: MediaRequest): Input | undefined {
  if (request.audio_input) return audioFromWire(request.audio_input);
  if (request.event_input) return eventFromWire(request.event_input);
  if (request.dtmf_input) return { kind: 'dtmf', digits: digitsOf(request.dtmf_input.dtmf_events ?? [], dtmfCharacter) };
  throw new AppError('bad_message', 'the message carries no input: one of audio_input, dtmf_input and event_input must be set');
}

type WireEvent = NonNullable<MediaRequest['event_input']>;

/**
 * Caller audio as an input.
 *
 * @throws AppError `unsupported_audio` for an encoding or a rate that cannot be decoded (G-31).
 */
export function audioFromWire(audio: WireAudio): AudioInput {
  return audioInput(audio.caller_audio, encodingFromWire(audio.encoding), audio.sample_rate_hertz);
}

function encodingFromWire(encoding: WireAudio['encoding']): AudioEncoding | undefined {
  switch (encoding) {
    case undefined:
    case VOICE_ENCODING.UNSPECIFIED_FORMAT:
      return undefined;
    case VOICE_ENCODING.LINEAR16_FORMAT:
      return 'linear16';
    case VOICE_ENCODING.MULAW_FORMAT:
      return 'mulaw';
    case VOICE_ENCODING.ALAW_FORMAT:
      return 'alaw';
    default:
      throw new AppError('unsupported_audio', 'caller audio has an encoding that this server does not know', {
        details: { encoding: String(encoding) },
      });
  }
}

function eventFromWire(event: WireEvent): Input | undefined {
  switch (event.event_type) {
    case EVENT_INPUT.SESSION_START:
      return { kind: 'session_start', name: event.name ?? '', parameters: parametersFromWire(event) };
    case EVENT_INPUT.SESSION_END:
      return { kind: 'session_end' };
    case EVENT_INPUT.NO_INPUT:
      return { kind: 'no_input' };
    case EVENT_INPUT.START_OF_DTMF:
      return { kind: 'dtmf_start' };
    case EVENT_INPUT.CUSTOM_EVENT:
      return { kind: 'custom_event', name: event.name ?? '', parameters: parametersFromWire(event) };
    case undefined:
    case EVENT_INPUT.UNSPECIFIED_INPUT:
      throw new AppError('bad_message', 'event_input names no event type');
    default:
      return undefined;
  }
}

function parametersFromWire({ parameters }: WireEvent): JsonObject {
  return parameters === undefined ? {} : checkedParameters(jsonFromStruct(parameters));
}
