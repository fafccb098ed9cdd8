// What one RPC has written and its client has not read yet, in bytes (G-91): says when to wait, and when it is too much.
// grpc-js counts messages, of which sixteen may be a megabyte.
import type { EncodedResponse } from '../../contract/grpc.ts';

/** More than this waits: whoever writes should wait, too. Eight seconds of audio in the largest chunks that are allowed. */
const ENOUGH_BYTES = 65_536;

/** The writing side of a stream. */
interface ByteStream {
  write(bytes: EncodedResponse, onTaken: () => void): boolean;
}

/** One per RPC. */
export class Outgoing {
  readonly #stream: ByteStream;
  readonly #maxBytes: number;
  #waitingBytes = 0;
  #onDrained: (() => void) | undefined;

  /** @param maxBytes - most that may wait; one message alone may be larger. */
  constructor(stream: ByteStream, maxBytes: number) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
  }

  /** True when enough waits: the next message should wait for `onceDrained`. */
  get isFull(): boolean {
    return this.#waitingBytes > ENOUGH_BYTES;
  }

  /** Writes a message. @returns false when it would be too much; it is not written then, and the RPC should end. */
  send(response: EncodedResponse): boolean {
    const bytes = response.length;
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#maxBytes) return false;
    this.#waitingBytes += bytes;
    this.#stream.write(response, () => {
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
