// Messages of all streams that came in one turn of the event loop, taken together when it has read what there is. With hundreds of
// calls the gRPC library and the engine would otherwise push each other out of the processor's caches with every frame. Knows no
// call and no message.

/** Takes one message of a stream. */
export type Take = (bytes: Buffer) => void;

/** Of one server. Order holds: of a stream as it was read, and of all streams as they came. */
export class MessageBatch {
  #takes: Take[] = [];
  #messages: Buffer[] = [];

  /** Keeps a message until the event loop has read what there is. `take` may not throw. */
  add(take: Take, bytes: Buffer): void {
    if (this.#takes.length === 0) setImmediate(this.flush);
    this.#takes.push(take);
    this.#messages.push(bytes);
  }

  /** Takes all that is kept, now: for whoever must not get ahead of it. */
  readonly flush = (): void => {
    const [takes, messages] = [this.#takes, this.#messages];
    if (takes.length === 0) return;
    // Anew: what comes while these are taken is not behind them for ever.
    this.#takes = [];
    this.#messages = [];
    for (let index = 0; index < takes.length; index += 1) {
      const message = messages[index];
      if (message !== undefined) takes[index]?.(message);
    }
  };
}
