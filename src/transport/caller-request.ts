// The checks of a caller's message on every wire: ids, sizes and audio formats. Knows no wire; each transport maps its own
// names first.
import { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { MIN_CALLER_AUDIO_BYTES } from '../contract/limits.ts';
import type { AudioEncoding, AudioInput } from '../dialog/input.ts';
import { DECODABLE_RATES_HZ } from '../speech/audio-format.ts';

/** Longest id, characters; the platform's ids are UUIDs. */
const MAX_ID_CHARS = 256;
/** Forbidden in ids, which appear in logs and store keys. */
const CONTROL_CHARACTERS = /\p{Cc}/u;
/** Most keys in one message; a bot can ask for at most 100. */
const MAX_KEYS = 256;
/** Longest vendor_specific_config, characters. */
const MAX_VENDOR_CONFIG_CHARS = 16_384;
/** Largest parameters of an event, bytes as JSON: they are part of the snapshot. */
const MAX_PARAMETERS_BYTES = 16_384;

const NO_AUDIO = new Uint8Array(0);

/** The call of a message, as named on the wire. */
export interface WireCall {
  readonly organizationId: string;
  readonly conversationId: string;
  readonly agentId: string;
  readonly vendorConfig: string;
}

/**
 * Checks the ids of a call.
 *
 * @throws AppError `bad_message` for an empty conversation id, for ids that are too long or contain control
 * characters, and for a too long vendor configuration.
 */
export function checkedCall(call: WireCall): WireCall {
  const { organizationId, conversationId, agentId, vendorConfig } = call;
  if (conversationId === '') throw new AppError('bad_message', 'conversation_id is empty');
  for (const id of [conversationId, organizationId, agentId]) {
    if (id.length > MAX_ID_CHARS) throw new AppError('bad_message', 'an id of the request is longer than 256 characters');
    if (CONTROL_CHARACTERS.test(id)) throw new AppError('bad_message', 'an id of the request contains control characters');
  }
  if (vendorConfig.length > MAX_VENDOR_CONFIG_CHARS)
    throw new AppError('bad_message', 'vendor_specific_config is longer than 16384 characters');
  return call;
}

/**
 * Checks that a message belongs to the call of the stream's first message.
 *
 * @throws AppError `bad_message` for another call, `agent_conflict` for another agent (G-17).
 */
export function demandSameCall(opened: WireCall, message: WireCall): void {
  if (message.conversationId !== opened.conversationId || message.organizationId !== opened.organizationId) {
    throw new AppError('bad_message', 'conversation_id and customer_org_id must stay the same on one stream');
  }
  if (message.agentId !== '' && message.agentId !== opened.agentId) {
    throw new AppError('agent_conflict', 'virtual_agent_id must stay the same on one stream');
  }
}

/**
 * Caller audio as an input.
 *
 * @param bytes - the audio; not copied.
 * @param encoding - undefined when the message names none (G-32).
 * @param sampleRateHz - undefined or 0 when the message names none.
 * @throws AppError `unsupported_audio` for a rate that cannot be decoded (G-31).
 */
export function audioInput(
  bytes: Uint8Array | undefined,
  encoding: AudioEncoding | undefined,
  sampleRateHz: number | undefined,
): AudioInput {
  // G-33, G-34: probe packets carry at most a format, no audio.
  const audio = bytes === undefined || bytes.length < MIN_CALLER_AUDIO_BYTES ? NO_AUDIO : bytes;
  const rate = decodableRate(sampleRateHz);
  // The fast path, fifty times a second per call: most frames name no format (G-32).
  if (encoding === undefined && rate === undefined) return { kind: 'audio', audio };
  return {
    kind: 'audio',
    audio,
    ...(encoding === undefined ? {} : { encoding }),
    ...(rate === undefined ? {} : { sampleRateHz: rate }),
  };
}

// Checked before the decoder, because a bad first message must not open a session.
function decodableRate(sampleRateHz: number | undefined): number | undefined {
  if (sampleRateHz === undefined || sampleRateHz === 0) return undefined;
  if (DECODABLE_RATES_HZ.includes(sampleRateHz)) return sampleRateHz;
  throw new AppError('unsupported_audio', `caller audio at ${String(sampleRateHz)} Hz cannot be decoded; 8000 and 16000 Hz can`, {
    details: { sampleRateHz },
  });
}

/**
 * Keys as text; unknown keys are dropped (G-90).
 *
 * @param keyOf - the character of a key on the wire; undefined for an unknown key.
 * @throws AppError `bad_message` for too many keys.
 */
export function digitsOf<Key>(keys: readonly Key[], keyOf: (key: Key) => string | undefined): string {
  if (keys.length > MAX_KEYS) throw new AppError('bad_message', `the message carries more than ${String(MAX_KEYS)} keys`);
  let digits = '';
  for (const key of keys) digits += keyOf(key) ?? '';
  return digits;
}

/** Checks the parameters of an event. @throws AppError `bad_message` when they are too large. */
export function checkedParameters(parameters: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(parameters)) > MAX_PARAMETERS_BYTES) {
    throw new AppError('bad_message', `the parameters of an event are larger than ${String(MAX_PARAMETERS_BYTES)} bytes of JSON`);
  }
  return parameters;
}
