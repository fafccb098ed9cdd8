// Waits for the other side, checking the condition whenever something happened. Knows no wire.
import type { Clock } from '../../base/clock.ts';
import { pause } from '../../base/abort.ts';

/** A timer later than this was delayed by this process, and says nothing about the server, ms. */
const MAX_LATE_MS = 250;

export class Awaited {
  readonly #clock: Clock;
  readonly #isGivenUp: () => boolean;
  readonly #waiting = new Set<() => void>();

  /** @param isGivenUp - whether all waits end. */
  constructor(clock: Clock, isGivenUp: () => boolean) {
    this.#clock = clock;
    this.#isGivenUp = isGivenUp;
  }

  check(): void {
    for (const check of [...this.#waiting]) check();
  }

  /** Waits until the condition holds or `limitMs` have passed. @returns whether it holds. */
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
          // After this process slept, what came meanwhile is read only now.
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
 * Does one step for each `tickMs` that has begun, those that this process missed all at once, until a step returns `false`.
 * Other work runs at least once per round.
 */
export async function atPace(clock: Clock, tickMs: number, step: () => boolean): Promise<void> {
  const startMs = clock.monotonicMs();
  for (let done = 0; ;) {
    const due = Math.floor((clock.monotonicMs() - startMs) / tickMs) + 1;
    for (; done < due; done += 1) if (!step()) return;
    await pause(Math.max(0, startMs + due * tickMs - clock.monotonicMs()), clock);
  }
}
