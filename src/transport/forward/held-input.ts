// What the platform has sent on a forwarded turn, kept so that another home can be given it. Bounded: of a long turn the first
// message and the newest ones. Knows no message.

/** One per forwarded turn. */
export class HeldInput {
  readonly #maxBytes: number;
  readonly #first: Buffer;
  #newest: Buffer[] = [];
  /** Of the newest ones that still count. */
  #from = 0;
  #newestBytes = 0;

  /**
   * @param first - message, which names the call: always kept.
   * @param maxBytes - most that is held in all.
   */
  constructor(first: Buffer, maxBytes: number) {
    this.#first = first;
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#first.length + this.#newestBytes;
  }

  /** In the order in which they came. */
  get messages(): readonly Buffer[] {
    return [this.#first, ...this.#newest.slice(this.#from)];
  }

  add(message: Buffer): void {
    this.#newest.push(message);
    this.#newestBytes += message.length;
    while (this.bytes > this.#maxBytes && this.#from < this.#newest.length - 1) {
      this.#newestBytes -= this.#newest[this.#from]?.length ?? 0;
      this.#from += 1;
    }
    // Not each time: it costs as much as there is.
    if (this.#from < this.#newest.length / 2) return;
    this.#newest = this.#newest.slice(this.#from);
    this.#from = 0;
  }
}
