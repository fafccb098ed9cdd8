// gRPC's message framing: one byte of flags, four bytes of length, and the message. Knows no connection and no message.
import { FRAME_SAMPLES } from '../../speech/audio-format.ts';

const PREFIX_BYTES = 5;
/** Largest accepted message, bytes: the limit of the official gateway. */
const MAX_MESSAGE_BYTES = 50 * 1024 * 1024;

export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX_BYTES);
  return bytes;
}

/**
 * Makes messages that differ only in their audio, by copying a template. Nearly all messages are frames of audio, and encoding each one
 * would cost more than all the rest of its handling. Audio that is not as long as a frame is encoded.
 * @param encode - encodes the message with this audio.
 */
export function audioMessages(encode: (audio: Uint8Array) => Uint8Array): (audio: Uint8Array) => Buffer {
  const mark = new Uint8Array(FRAME_SAMPLES).fill(0x5a);
  const template = framed(encode(mark));
  const audioAt = template.indexOf(mark);
  return (audio) => {
    if (audio.length !== FRAME_SAMPLES) return framed(encode(audio));
    // `Buffer.from` would copy byte by byte.
    const message = Buffer.allocUnsafe(template.length);
    template.copy(message);
    message.set(audio, audioAt);
    return message;
  };
}

/** Takes the bytes of one direction of an RPC in pieces, and passes on whole messages. */
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
    // Pieces are joined only when the message is complete: a long prompt arrives in hundreds of pieces.
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
