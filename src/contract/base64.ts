// Audio as text. The runtime's own decoder skips whatever is no Base64, which would turn a broken message into noise.
import { AppError } from '../base/errors.ts';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The bytes of a Base64 text (RFC 4648, section 4; with its padding).
 *
 * @param maxBytes - most bytes it may stand for.
 * @throws AppError `bad_message` for a text that is none or stands for more.
 */
export function bytesOfBase64(text: string, maxBytes: number): Buffer {
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw new AppError('bad_message', 'the audio is no Base64');
  // Before decoding: what is refused must not be made.
  if ((text.length / 4) * 3 - 2 > maxBytes) throw new AppError('bad_message', `the audio is longer than ${String(maxBytes)} bytes`);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > maxBytes) throw new AppError('bad_message', `the audio is longer than ${String(maxBytes)} bytes`);
  return bytes;
}
