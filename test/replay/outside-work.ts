// Whether a bot waits for something outside of the process, such as a service or a file: then a clock must not jump.

/** One per engine that runs on a jumping clock. */
export class OutsideWork {
  /** What the process waits for anyway. */
  #usual = 0;
  #handlers = 0;

  /** A handler begins. */
  begun(): void {
    if (this.#handlers === 0) this.#usual = resources();
    this.#handlers += 1;
  }

  /** A handler has ended. */
  ended(): void {
    this.#handlers -= 1;
  }

  get isAwaited(): boolean {
    return this.#handlers > 0 && resources() > this.#usual;
  }
}

function resources(): number {
  return process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length;
}
