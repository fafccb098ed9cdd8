// What is demanded of a caller's message on every wire: ids that may be kept, sizes that may stand in a record, audio that
// can be decoded. Knows no wire; each maps its own words to ours first.
import { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { MIN_CALLER_AUDIO_BYTES } from '../contract/limits.ts';
import type { AudioEncoding, AudioInput } from '../dialog/input.ts';
import { DECODABLE_RATES_HZ } from '../speech/audio-format.ts';

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

/** Which call a message belongs to, in the words of the wire. */
export interface WireCall {
  readonly organizationId: string;
  readonly conversationId: string;
  readonly agentId: string;
  readonly vendorConfig: string;
}

/**
 * The same call, once it may be kept.
 *
 * @throws AppError `bad_message` for an empty conversation id, for ids that are over-long or hold control characters, and
 *   for an over-long vendor configuration.
 */
export function checkedCall(call: WireCall): WireCall {
  const { organizationId, conversationId, agentId, vendorConfig } = call;
  if (conversationId === '') throw new AppError('bad_message', 'conversation_id is empty');
  for (const id of [conversationId, organizationId, agentId]) {
    if (id.length > MAX_ID_CHARS) throw new AppError('bad_message', 'an id of the request is longer than 256 characters');
    if (CONTROL_CHARACTERS.test(id)) throw new AppError('bad_message', 'an id of the request holds control characters');
  }
  if (vendorConfig.length > MAX_VENDOR_CONFIG_CHARS)
    throw new AppError('bad_message', 'vendor_specific_config is longer than 16384 characters');
  return call;
}

/**
 * All messages of a stream belong to the call of its first one.
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
 * @param bytes - of the message; not copied.
 * @param encoding - undefined when the message names none (G-32).
 * @param sampleRateHz - undefined or 0 when the message names none.
 * @throws AppError `unsupported_audio` for a rate that cannot be decoded (G-31).
 */
export function audioInput(
  bytes: Uint8Array | undefined,
  encoding: AudioEncoding | undefined,
  sampleRateHz: number | undefined,
): AudioInput {
  // G-33, G-34: probe packets name a format at most; they are no sound.
  const audio = bytes === undefined || bytes.length < MIN_CALLER_AUDIO_BYTES ? NO_AUDIO : bytes;
  const rate = decodableRate(sampleRateHz);
  // Fifty times a second and call: on most wires most frames name no format (G-32).
  if (encoding === undefined && rate === undefined) return { kind: 'audio', audio };
  return {
    kind: 'audio',
    audio,
    ...(encoding === undefined ? {} : { encoding }),
    ...(rate === undefined ? {} : { sampleRateHz: rate }),
  };
}

// Checked here and not only where audio is decoded: a bad first message must not open a session.
function decodableRate(sampleRateHz: number | undefined): number | undefined {
  if (sampleRateHz === undefined || sampleRateHz === 0) return undefined;
  if (DECODABLE_RATES_HZ.includes(sampleRateHz)) return sampleRateHz;
  throw new AppError('unsupported_audio', `caller audio at ${String(sampleRateHz)} Hz cannot be decoded; 8000 and 16000 Hz can`, {
    details: { sampleRateHz },
  });
}

/**
 * Keys as text; those that this version does not know are left out (G-90).
 *
 * @param keyOf - the character of one key as it stands on the wire.
 * @throws AppError `bad_message` for too many.
 */
export function digitsOf<Key>(keys: readonly Key[], keyOf: (key: Key) => string | undefined): string {
  if (keys.length > MAX_KEYS) throw new AppError('bad_message', `the message carries more than ${String(MAX_KEYS)} keys`);
  let digits = '';
  for (const key of keys) digits += keyOf(key) ?? '';
  return digits;
}

/** The same parameters of an event, once they may be kept. @throws AppError `bad_message` when they are too large. */
export function checkedParameters(parameters: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(parameters)) > MAX_PARAMETERS_BYTES) {
    throw new AppError('bad_message', `the parameters of an event are larger than ${String(MAX_PARAMETERS_BYTES)} bytes of JSON`);
  }
  return parameters;
}
