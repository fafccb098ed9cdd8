// A clock that stands still until a test moves it. It knows nothing of what it times.
import type { CancelTimer, Clock } from '../base/clock.ts';

/** More timers than this within one advance mean a timer that starts itself again without any delay. */
const MAX_FIRED = 100_000;

/** Starts at a wall-clock time, with monotonic time 0. */
export class TestClock implements Clock {
  readonly #startedAtMs: number;
  readonly #timers = new Set<{ readonly dueMs: number; readonly task: () => void }>();
  #elapsedMs = 0;
  #moving: Promise<void> = Promise.resolve();

  constructor(startedAtMs: number) {
    this.#startedAtMs = startedAtMs;
  }

  nowMs(): number {
    return this.#startedAtMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, task: () => void): CancelTimer {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), task };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /**
   * Moves time on and runs, in order, what comes due, also what is begun on the way. Promises go on before and after each timer. One move
   * comes after the other.
   */
  advance(ms: number): Promise<void> {
    this.#moving = this.#moving.then(() => this.#move(ms));
    return this.#moving;
  }

  async #move(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await settled();
    for (let fired = 0; ; fired += 1) {
      const [next] = [...this.#timers].filter(({ dueMs }) => dueMs <= untilMs).toSorted((a, b) => a.dueMs - b.dueMs);
      if (next === undefined) break;
      if (fired > MAX_FIRED) throw new Error('a timer starts itself again without any delay');
      this.#timers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      next.task();
      await settled();
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, untilMs);
    await settled();
  }
}

/** Lets promises go on that wait for nothing but each other: an immediate runs after them. */
export function tick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** A few rounds of them: what a handler gets from streams comes in more than one. */
async function settled(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await tick();
}
