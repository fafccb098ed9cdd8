// Collects the messages of all streams that arrive in one turn of the event loop and handles them together. With
// hundreds of calls, the gRPC library and the engine would otherwise evict each other from the processor's caches
// with every frame. Knows no call and no message.

/** Handles one message of a stream. */
export type Take = (bytes: Buffer) => void;

/** The deserializer of an RPC whose messages are collected: a message stays bytes until its batch is handled. */
export function asBytes(bytes: Buffer): Buffer {
  return bytes;
}

/** One per server. Keeps the order of arrival. */
export class MessageBatch {
  #takes: Take[] = [];
  #messages: Buffer[] = [];

  /**
   * Returns a listener for the messages of one stream. It keeps each message until the event loop has read everything.
   *
   * @param take - must not throw.
   */
  listener(take: Take): Take {
    return (bytes) => {
      if (this.#takes.length === 0) setImmediate(this.flush);
      this.#takes.push(take);
      this.#messages.push(bytes);
    };
  }

  /** Handles all kept messages now, before an event that must come after them. */
  readonly flush = (): void => {
    const [takes, messages] = [this.#takes, this.#messages];
    if (takes.length === 0) return;
    // A new list: messages that arrive meanwhile form the next batch.
    this.#takes = [];
    this.#messages = [];
    for (let index = 0; index < takes.length; index += 1) {
      const message = messages[index];
      if (message !== undefined) takes[index]?.(message);
    }
  };
}
