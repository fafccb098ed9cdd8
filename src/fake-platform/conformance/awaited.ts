// Waiting for what another side does, looked at whenever it did something. Knows no wire.
import type { Clock } from '../../base/clock.ts';

/** A timer that is later than this was held up by this process, and says nothing of the server, ms. */
const MAX_LATE_MS = 250;

/** Those who wait for one line. */
export class Awaited {
  readonly #clock: Clock;
  readonly #isGivenUp: () => boolean;
  readonly #waiting = new Set<() => void>();

  /** @param isGivenUp - whether nothing more is waited for. */
  constructor(clock: Clock, isGivenUp: () => boolean) {
    this.#clock = clock;
    this.#isGivenUp = isGivenUp;
  }

  /** Something happened. */
  look(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** Waits until the condition holds or `limitMs` have passed. @returns whether it holds. */
  until(condition: () => boolean, limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (condition()) settle(true);
        else if (this.#isGivenUp()) settle(false);
      };
      const settle = (holds: boolean): void => {
        cancelTimer();
        this.#waiting.delete(look);
        resolve(holds);
      };
      const wait = (ms: number): (() => void) => {
        const dueMs = this.#clock.monotonicMs() + ms;
        return this.#clock.after(ms, () => {
          const lateMs = this.#clock.monotonicMs() - dueMs;
          // After a sleep of this process what has come meanwhile is read only now.
          if (lateMs > MAX_LATE_MS && !condition()) cancelTimer = wait(Math.min(limitMs, lateMs));
          else settle(condition());
        });
      };
      let cancelTimer = wait(limitMs);
      this.#waiting.add(look);
      look();
    });
  }
}
