// gRPC frames: each message has a prefix of five bytes. Knows no message.
import { AppError } from '../../base/errors.ts';

const PREFIX_BYTES = 5;
/** Largest message of a peer, bytes: one message may hold all audio of a reply. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Length of a message with its prefix. */
export function frameBytes(message: Uint8Array): number {
  return PREFIX_BYTES + message.length;
}

/** A message with its prefix, uncompressed. */
export function framed(message: Uint8Array): Buffer {
  return putFrame(message, Buffer.allocUnsafe(frameBytes(message)), 0);
}

/** Writes the frame of a message into a buffer. @returns a view of the frame. */
export function putFrame(message: Uint8Array, into: Buffer, at: number): Buffer {
  into[at] = 0;
  into.writeUInt32BE(message.length, at + 1);
  into.set(message, at + PREFIX_BYTES);
  return into.subarray(at, at + frameBytes(message));
}

/** Splits a body into messages. */
export class FrameReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Length of the current frame with its prefix; 0: not known yet. */
  #wanted = 0;

  /** Whether a message is incomplete. */
  get isInside(): boolean {
    return this.#bytes > 0;
  }

  /** The messages completed by this chunk. @throws AppError `bad_message` for a compressed or too large one. */
  read(chunk: Buffer): readonly Buffer[] {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    const messages: Buffer[] = [];
    while (this.#bytes >= Math.max(this.#wanted, PREFIX_BYTES)) {
      const all = this.#joined();
      if (this.#wanted === 0) this.#wanted = PREFIX_BYTES + lengthIn(all);
      if (this.#bytes < this.#wanted) break;
      messages.push(all.subarray(PREFIX_BYTES, this.#wanted));
      const rest = all.subarray(this.#wanted);
      this.#parts = rest.length > 0 ? [rest] : [];
      this.#bytes = rest.length;
      this.#wanted = 0;
    }
    return messages;
  }

  #joined(): Buffer {
    const [only] = this.#parts;
    const all = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    this.#parts = [all];
    return all;
  }
}

function lengthIn(prefix: Buffer): number {
  const length = prefix.readUInt32BE(1);
  if (prefix[0] === 0 && length <= MAX_MESSAGE_BYTES) return length;
  throw new AppError('bad_message', 'a peer answered with a message that is compressed or too large', { details: { bytes: length } });
}
