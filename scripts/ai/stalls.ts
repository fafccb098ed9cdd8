// When this process stood still, because the machine was busy. Servers and callers in it then disagree by that much on when a sound began or
// was cut, and neither is wrong.

const PERIOD_MS = 20;
/** Shorter than half a short word. */
const STALL_MS = 80;
/** A call's times are known to this, ms. */
const AROUND_MS = 200;

/** Whoever makes it closes it. */
export class Stalls {
  readonly #stalls: { readonly fromMs: number; readonly toMs: number }[] = [];
  readonly #timer: NodeJS.Timeout;
  #lastMs = performance.now();

  constructor() {
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs - this.#lastMs > PERIOD_MS + STALL_MS) this.#stalls.push({ fromMs: this.#lastMs, toMs: nowMs });
      this.#lastMs = nowMs;
    }, PERIOD_MS);
  }

  /** Whether it stood still about a moment of `performance.now()`. */
  isAround(atMs: number): boolean {
    return this.#stalls.some(({ fromMs, toMs }) => fromMs < atMs + AROUND_MS && toMs > atMs - AROUND_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
