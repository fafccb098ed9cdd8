// Limits repeated log lines: at most one line per key within a pause, with the number of omitted lines. Knows nothing of what is logged.
import type { Clock } from './clock.ts';

/** Shortest time between two lines with the same key, ms. */
const PAUSE_MS = 1000;

/** Decides which lines are written. Keys must come from a closed list, because each one is kept. */
export class LinePacer<Key extends string> {
  readonly #clock: Clock;
  readonly #seen = new Map<Key, { writtenAtMs: number; leftOut: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns how many lines were omitted since the last written one, or undefined when this line must be omitted, too. */
  next(key: Key): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const seen = this.#seen.get(key);
    if (seen !== undefined && nowMs - seen.writtenAtMs < PAUSE_MS) {
      seen.leftOut += 1;
      return undefined;
    }
    this.#seen.set(key, { writtenAtMs: nowMs, leftOut: 0 });
    return seen?.leftOut ?? 0;
  }
}
