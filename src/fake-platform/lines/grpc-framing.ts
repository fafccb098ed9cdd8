// gRPC's message framing: one byte of flags, four of length, and the message. Knows no connection and no message.
import { FRAME_SAMPLES } from '../../speech/audio-format.ts';

const PREFIX_BYTES = 5;
/** Largest message accepted: what the official gateway allows. */
const MAX_MESSAGE_BYTES = 50 * 1024 * 1024;

export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX_BYTES);
  return bytes;
}

/**
 * Makes messages that differ only in their audio by copying a template: nearly all messages are frames, and encoding each
 * of them would cost more than everything else about them. Audio of another length than a frame is encoded.
 *
 * @param encode - the message with this audio.
 */
export function audioMessages(encode: (audio: Uint8Array) => Uint8Array): (audio: Uint8Array) => Buffer {
  const mark = new Uint8Array(FRAME_SAMPLES).fill(0x5a);
  const template = framed(encode(mark));
  const audioAt = template.indexOf(mark);
  return (audio) => {
    if (audio.length !== FRAME_SAMPLES) return framed(encode(audio));
    // Not `Buffer.from`, which copies byte by byte.
    const message = Buffer.allocUnsafe(template.length);
    template.copy(message);
    message.set(audio, audioAt);
    return message;
  };
}

/** Takes the pieces of one direction of an RPC and passes on whole messages. */
export class MessageReader {
  readonly #onMessage: (message: Buffer) => void;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #neededBytes = PREFIX_BYTES;

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  /** @throws RangeError for a compressed or far too long message, and the listener's errors. */
  push(piece: Buffer): void {
    this.#rest.push(piece);
    this.#restBytes += piece.length;
    // Pieces are joined only when a message is complete: a long prompt comes in hundreds of them.
    if (this.#restBytes < this.#neededBytes) return;
    let bytes = this.#rest.length === 1 ? piece : Buffer.concat(this.#rest);
    for (;;) {
      const length = bytes.length < PREFIX_BYTES ? 0 : messageLength(bytes);
      this.#neededBytes = PREFIX_BYTES + length;
      if (bytes.length < this.#neededBytes) break;
      this.#onMessage(bytes.subarray(PREFIX_BYTES, this.#neededBytes));
      bytes = bytes.subarray(this.#neededBytes);
    }
    this.#rest = bytes.length === 0 ? [] : [bytes];
    this.#restBytes = bytes.length;
  }
}

function messageLength(bytes: Buffer): number {
  if (bytes[0] !== 0) throw new RangeError('it is compressed although that was not asked for');
  const length = bytes.readUInt32BE(1);
  if (length > MAX_MESSAGE_BYTES) throw new RangeError(`it says that it has ${String(length)} bytes`);
  return length;
}
