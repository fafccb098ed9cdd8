// The platform's messages as our inputs. Wire words stop here; audio bytes pass without a copy.
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { WireAudio } from '../../contract/audio-frames.ts';
import { dtmfCharacter, EVENT_INPUT, VOICE_ENCODING, type MediaRequest } from '../../contract/grpc.ts';
import { MIN_CALLER_AUDIO_BYTES } from '../../contract/limits.ts';
import { jsonFromStruct } from '../../contract/struct.ts';
import { DECODABLE_RATES_HZ } from '../../speech/audio-format.ts';
import type { AudioEncoding, AudioInput, Input } from '../../dialog/input.ts';

/** Longest ids Parley keeps, characters; the platform's are UUIDs. */
const MAX_ID_CHARS = 256;
/** No id has them; in ids they would end up in logs and store keys. */
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;
/** Most keys in one message; at most 100 can be asked for. */
const MAX_KEYS = 256;
/** Longest vendor_specific_config Parley keeps, characters. */
const MAX_VENDOR_CONFIG_CHARS = 16_384;

/** Largest parameters of an event Parley keeps, bytes as JSON: they stand in the record of the session. */
const MAX_PARAMETERS_BYTES = 16_384;

const NO_AUDIO = new Uint8Array(0);

/** Which call a message belongs to. */
export interface WireCall {
  readonly organizationId: string;
  readonly conversationId: string;
  readonly agentId: string;
  readonly vendorConfig: string;
}

/**
 * The call a message names.
 *
 * @throws AppError `bad_message` for an empty conversation id and for ids that are over-long or hold control characters.
 */
export function callFromWire(request: MediaRequest): WireCall {
  const conversationId = request.conversation_id ?? '';
  if (conversationId === '') throw new AppError('bad_message', 'conversation_id is empty');
  const call = {
    organizationId: request.customer_org_id ?? '',
    conversationId,
    agentId: request.virtual_agent_id ?? '',
    vendorConfig: request.vendor_specific_config ?? '',
  };
  for (const id of [conversationId, call.organizationId, call.agentId]) {
    if (id.length > MAX_ID_CHARS) throw new AppError('bad_message', 'an id of the request is longer than 256 characters');
    if (CONTROL_CHARACTERS.test(id)) throw new AppError('bad_message', 'an id of the request holds control characters');
  }
  if (call.vendorConfig.length > MAX_VENDOR_CONFIG_CHARS)
    throw new AppError('bad_message', 'vendor_specific_config is longer than 16384 characters');
  return call;
}

/**
 * What a message says the caller did. Undefined: an event of a later version of the contract, legal and without
 * effect (G-90).
 *
 * @throws AppError `bad_message` when no input is set (G-18) or it is too large, `unsupported_audio` for an encoding or a
 *   rate that cannot be decoded (G-31).
 */
export function inputFromWire(request: MediaRequest): Input | undefined {
  if (request.audio_input) return audioFromWire(request.audio_input);
  if (request.event_input) return eventFromWire(request.event_input);
  if (request.dtmf_input) return { kind: 'dtmf', digits: digitsFromWire(request.dtmf_input.dtmf_events ?? []) };
  throw new AppError('bad_message', 'the message carries no input: one of audio_input, dtmf_input and event_input must be set');
}

type WireEvent = NonNullable<MediaRequest['event_input']>;

/**
 * Caller audio as an input.
 *
 * @throws AppError `unsupported_audio` for an encoding or a rate that cannot be decoded (G-31).
 */
export function audioFromWire(audio: WireAudio): AudioInput {
  const bytes = audio.caller_audio;
  // G-33, G-34: probe packets name a format at most; they are no sound.
  const sound = bytes === undefined || bytes.length < MIN_CALLER_AUDIO_BYTES ? NO_AUDIO : bytes;
  const encoding = encodingFromWire(audio.encoding);
  const sampleRateHz = rateFromWire(audio.sample_rate_hertz);
  // Fifty times a second and call: most frames name no format (G-32).
  if (encoding === undefined && sampleRateHz === undefined) return { kind: 'audio', audio: sound };
  return {
    kind: 'audio',
    audio: sound,
    ...(encoding === undefined ? {} : { encoding }),
    ...(sampleRateHz === undefined ? {} : { sampleRateHz }),
  };
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

// Looked at here and not only where audio is decoded: a bad first message must not open a session.
function rateFromWire(sampleRateHz: number | undefined): number | undefined {
  if (sampleRateHz === undefined || sampleRateHz === 0) return undefined;
  if (DECODABLE_RATES_HZ.includes(sampleRateHz)) return sampleRateHz;
  throw new AppError('unsupported_audio', `caller audio at ${String(sampleRateHz)} Hz cannot be decoded; 8000 and 16000 Hz can`, {
    details: { sampleRateHz },
  });
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

function parametersFromWire(event: WireEvent): JsonObject {
  const parameters = jsonFromStruct(event.parameters);
  if (event.parameters !== undefined && Buffer.byteLength(JSON.stringify(parameters)) > MAX_PARAMETERS_BYTES) {
    throw new AppError('bad_message', `the parameters of an event are larger than ${String(MAX_PARAMETERS_BYTES)} bytes of JSON`);
  }
  return parameters;
}

function digitsFromWire(events: NonNullable<NonNullable<MediaRequest['dtmf_input']>['dtmf_events']>): string {
  if (events.length > MAX_KEYS) throw new AppError('bad_message', `the message carries more than ${String(MAX_KEYS)} keys`);
  let digits = '';
  for (const event of events) digits += dtmfCharacter(event) ?? '';
  return digits;
}
