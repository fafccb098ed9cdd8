// What the caller has heard: a clock over the prompts that were handed to the platform. An estimate, because the
// platform says nothing of its player; it starts with the first byte sent and never runs ahead of real time.

interface Segment {
  readonly startMs: number;
  readonly endMs: number;
  readonly bargeIn: boolean;
}

/** The playback clock of one session. Times are monotonic ms. */
export class Playback {
  #segments: Segment[] = [];

  /** A prompt of `durationMs` was handed over at `nowMs`; it plays after those before it (G-22). */
  queued(durationMs: number, bargeIn: boolean, nowMs: number): void {
    const last = this.#segments.at(-1);
    if (last !== undefined && last.endMs <= nowMs) this.#segments = [];
    const startMs = last === undefined || last.endMs <= nowMs ? nowMs : last.endMs;
    this.#segments.push({ startMs, endMs: startMs + durationMs, bargeIn });
  }

  /** True while prompts are being heard. */
  isPlaying(nowMs: number): boolean {
    const last = this.#segments.at(-1);
    return last !== undefined && nowMs < last.endMs;
  }

  /** True while a prompt is being heard that may not be cut (G-37, G-51). */
  isProtected(nowMs: number): boolean {
    for (const segment of this.#segments) {
      if (nowMs >= segment.startMs && nowMs < segment.endMs) return !segment.bargeIn;
    }
    return false;
  }

  /**
   * Stops the clock: what was not played by `nowMs` is dropped by the platform (G-52).
   *
   * @returns how much of the prompts was heard, ms; 0 when none was playing.
   */
  cut(nowMs: number): number {
    const first = this.#segments[0];
    const heardMs = first !== undefined && this.isPlaying(nowMs) ? Math.max(0, nowMs - first.startMs) : 0;
    this.#segments = [];
    return heardMs;
  }
}
