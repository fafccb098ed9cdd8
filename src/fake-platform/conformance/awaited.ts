// Waits for the other side, and checks the condition whenever something happens. Knows no wire.
import type { Clock } from '../../base/clock.ts';
import { pause } from '../../base/abort.ts';

/** A timer that fires later than this, ms, was delayed by this process: the delay says nothing about the server. */
const MAX_LATE_MS = 250;

export class Awaited {
  readonly #clock: Clock;
  readonly #isGivenUp: () => boolean;
  readonly #waiting = new Set<() => void>();

  /** @param isGivenUp - checked with every condition; true ends all waits. */
  constructor(clock: Clock, isGivenUp: () => boolean) {
    this.#clock = clock;
    this.#isGivenUp = isGivenUp;
  }

  check(): void {
    for (const check of [...this.#waiting]) check();
  }

  /** Waits until the condition holds or `limitMs` have passed. @returns whether the condition holds. */
  until(condition: () => boolean, limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (condition()) settle(true);
        else if (this.#isGivenUp()) settle(false);
      };
      const settle = (holds: boolean): void => {
        cancelTimer();
        this.#waiting.delete(check);
        resolve(holds);
      };
      const wait = (ms: number): (() => void) => {
        const dueMs = this.#clock.monotonicMs() + ms;
        return this.#clock.after(ms, () => {
          const lateMs = this.#clock.monotonicMs() - dueMs;
          // This process slept: what came meanwhile is read only now, so wait once more.
          if (lateMs > MAX_LATE_MS && !condition()) cancelTimer = wait(Math.min(limitMs, lateMs));
          else settle(condition());
        });
      };
      let cancelTimer = wait(limitMs);
      this.#waiting.add(check);
      check();
    });
  }
}

/**
 * Runs one step for each `tickMs` that has begun, and all missed steps at once, until a step returns `false`.
 * Other work of this process runs at least once between two rounds of steps.
 */
export async function atPace(clock: Clock, tickMs: number, step: () => boolean): Promise<void> {
  const startMs = clock.monotonicMs();
  for (let done = 0; ;) {
    const due = Math.floor((clock.monotonicMs() - startMs) / tickMs) + 1;
    for (; done < due; done += 1) if (!step()) return;
    await pause(Math.max(0, startMs + due * tickMs - clock.monotonicMs()), clock);
  }
}
