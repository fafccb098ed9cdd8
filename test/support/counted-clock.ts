// A clock that knows how many of its timers are armed: the proof that a program leaves none behind. The real clock's
// timers do not keep a process alive, so nothing else would show them.
import { systemClock, type Clock } from '../../src/base/clock.ts';

/** Any clock, with its timers counted. */
export class CountedClock implements Clock {
  /** How long each timer was to run, ms, in the order of their starts. */
  readonly waits: number[] = [];
  readonly #clock: Clock;
  readonly #armed = new Set<() => void>();

  /** @param clock - default: the real one. */
  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Timers that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#armed.size;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, task: () => void): () => void {
    this.waits.push(delayMs);
    const cancel = this.#clock.after(delayMs, () => {
      this.#armed.delete(forget);
      task();
    });
    const forget = (): void => {
      this.#armed.delete(forget);
      cancel();
    };
    this.#armed.add(forget);
    return forget;
  }
}
