// Strict Base64: Node's decoder skips invalid characters, which would turn a broken message into noise.
import { AppError } from '../base/errors.ts';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The bytes of a Base64 text (RFC 4648, section 4, with padding).
 *
 * @param maxBytes - most decoded bytes.
 * @throws AppError `bad_message` for an invalid text, or one with more bytes.
 */
export function bytesOfBase64(text: string, maxBytes: number): Buffer {
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw new AppError('bad_message', 'the audio is not Base64');
  // Checked before decoding.
  if ((text.length / 4) * 3 - 2 > maxBytes) throw new AppError('bad_message', `the audio is longer than ${String(maxBytes)} bytes`);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > maxBytes) throw new AppError('bad_message', `the audio is longer than ${String(maxBytes)} bytes`);
  return bytes;
}
