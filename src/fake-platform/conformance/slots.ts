// How many calls of a run may be placed at the same time: each holds a slot. Knows no call.

/** Slots, granted in the order of the requests. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = Math.max(1, count);
  }

  /** Waits for a slot. Whoever takes it gives it back. */
  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  /** Runs `work` while it holds a slot. */
  async with<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.take();
    try {
      return await work();
    } finally {
      this.give();
    }
  }
}
