// What one RPC or socket has written and its client has not read yet, in bytes (G-91): says when to wait, and when it is
// too much. grpc-js counts messages, of which sixteen may be a megabyte.

/** More than this waits: whoever writes should wait, too. Eight seconds of audio in the largest chunks that are allowed. */
const ENOUGH_BYTES = 65_536;

/**
 * What waits counts as nothing up to this, bytes. The notice before a reply, some twenty bytes, has hardly left when the
 * reply of a quick bot comes, and must not be what a long prompt is too much for.
 */
const NOTICE_BYTES = 1024;

/** The writing side of a stream. */
interface ByteStream<Message extends Uint8Array> {
  write(message: Message, onTaken: () => void): boolean;
}

/** One per RPC or socket. */
export class Outgoing<Message extends Uint8Array> {
  readonly #stream: ByteStream<Message>;
  readonly #maxBytes: number;
  #waitingBytes = 0;
  #onDrained: (() => void) | undefined;

  /** @param maxBytes - most that may wait; one message may be larger when nothing waits but a notice. */
  constructor(stream: ByteStream<Message>, maxBytes: number) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
  }

  /** True when enough waits: the next message should wait for `onceDrained`. */
  get isFull(): boolean {
    return this.#waitingBytes > ENOUGH_BYTES;
  }

  /** Writes a message. @returns false when it would be too much; it is not written then, and the stream should end. */
  send(message: Message): boolean {
    const bytes = message.length;
    if (this.#waitingBytes > NOTICE_BYTES && this.#waitingBytes + bytes > this.#maxBytes) return false;
    this.#waitingBytes += bytes;
    this.#stream.write(message, () => {
      this.#waitingBytes -= bytes;
      if (!this.isFull) this.#drained();
    });
    return true;
  }

  /** Calls `listener` once when enough was read; at once when nothing stands in the way. At most one waits at a time. */
  onceDrained(listener: () => void): void {
    this.#onDrained = listener;
    if (!this.isFull) this.#drained();
  }

  #drained(): void {
    const listener = this.#onDrained;
    this.#onDrained = undefined;
    listener?.();
  }
}
