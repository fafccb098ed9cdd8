// What one response is, found without decoding it: a server that passes responses on must know what the platform has
// received. Skips what it does not need by its length.
import { EVENT_OUTPUT, RESPONSE_TYPE } from './numbers.ts';

/**
 * `final` closes the reply (G-14, G-40), an early end of input is none (G-38). `part`: anything else, and what is not understood.
 */
export type ResponseKind = 'input_started' | 'input_ended' | 'final' | 'part';

// Numbers of the fields; a test holds them to the protos.
const EVENTS_FIELD = 2;
const TYPE_FIELD = 8;
const EVENT_TYPE_FIELD = 1;
const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** @param bytes - of one whole response. */
export function responseKind(bytes: Uint8Array): ResponseKind {
  const found: { event?: number; type?: number } = {};
  const isWhole = eachField(bytes, (field, value, inside) => {
    if (field === TYPE_FIELD) found.type = value;
    // The platform takes the first event and ignores the rest.
    if (field !== EVENTS_FIELD || inside === undefined || found.event !== undefined) return;
    found.event = EVENT_OUTPUT.UNSPECIFIED_EVENT;
    eachField(inside, (eventField, eventType) => {
      if (eventField === EVENT_TYPE_FIELD) found.event = eventType;
    });
  });
  if (!isWhole) return 'part';
  if (found.event === EVENT_OUTPUT.START_OF_INPUT) return 'input_started';
  if (found.event === EVENT_OUTPUT.END_OF_INPUT) return 'input_ended';
  // A response that names no type is a FINAL.
  return (found.type ?? RESPONSE_TYPE.FINAL) === RESPONSE_TYPE.FINAL ? 'final' : 'part';
}

/** @returns false when the bytes are no message. */
function eachField(bytes: Uint8Array, see: (field: number, value: number, inside: Uint8Array | undefined) => void): boolean {
  let at = 0;
  // Numbers here are lengths and enums: 32 bits are enough, what is above is read over.
  const number = (): number => {
    let value = 0;
    for (let shift = 0; at < bytes.length; shift += 7) {
      const byte = bytes[at++] ?? 0;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    at = bytes.length + 1;
    return 0;
  };
  while (at < bytes.length) {
    const tag = number();
    const [field, wireType] = [tag >>> 3, tag & 7];
    let inside: Uint8Array | undefined;
    let value = 0;
    if (wireType === VARINT) value = number();
    else if (wireType === LENGTH_DELIMITED) {
      const length = number();
      inside = bytes.subarray(at, at + length);
      at += length;
    } else if (wireType === FIXED64) at += 8;
    else if (wireType === FIXED32) at += 4;
    else return false;
    if (at > bytes.length) return false;
    see(field, value, inside);
  }
  return true;
}
