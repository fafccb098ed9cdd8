// gRPC's message framing: a byte of flags, four of length, and the message. Knows no connection and no message.

const PREFIX_BYTES = 5;
/** Largest message taken: what the official gateway allows. */
const MAX_MESSAGE_BYTES = 50 * 1024 * 1024;

/** A message with its prefix. */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX_BYTES);
  return bytes;
}

/** Takes the pieces of one direction of a turn and hands on whole messages. */
export class MessageReader {
  readonly #onMessage: (message: Buffer) => void;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #neededBytes = PREFIX_BYTES;

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  /** @throws RangeError for a compressed or far too long message, and what the listener throws. */
  push(piece: Buffer): void {
    this.#rest.push(piece);
    this.#restBytes += piece.length;
    // Pieces are joined only when a message is whole: a long prompt comes in hundreds of them.
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
