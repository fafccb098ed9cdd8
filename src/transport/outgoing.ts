// Counts the bytes that an RPC or socket has written and its client has not read yet (G-91), for back-pressure and
// for the limit. grpc-js only counts messages, of which sixteen may have a megabyte.

/** Writers should wait above this many bytes: eight seconds of audio in the largest allowed chunks. */
const ENOUGH_BYTES = 65_536;

/**
 * Up to this many waiting bytes, nothing counts as waiting: a small event of twenty bytes before a reply must not make a long
 * prompt exceed the limit.
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

  /** @param maxBytes - most waiting bytes; a single message may be larger when almost nothing waits. */
  constructor(stream: ByteStream<Message>, maxBytes: number) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
  }

  /** Whether the next message should wait for `onceDrained`. */
  get isFull(): boolean {
    return this.#waitingBytes > ENOUGH_BYTES;
  }

  /** Writes a message. @returns false when the limit would be exceeded: then nothing is written, and the stream should end. */
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

  /** Calls `listener` once when the client has read enough, or at once. At most one listener waits at a time. */
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
