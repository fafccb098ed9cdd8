// A clock that stands still until it is moved, and then jumps from timer to timer. It knows nothing of what it times.
import { holdProcess, systemClock, type CancelTimer, type Clock } from './clock.ts';

/** More timers than this within one move mean a timer that starts itself again without any delay. */
const MAX_FIRED = 100_000;
/** Time between two polls of work outside of the clock, ms. */
const OUTSIDE_POLL_MS = 1;

interface Timer {
  readonly dueMs: number;
  readonly task: () => void;
}

/** Starts at a wall-clock time, with monotonic time 0. */
export class JumpingClock implements Clock {
  readonly #startedAtMs: number;
  readonly #isAwaited: () => boolean;
  readonly #timers = new Set<Timer>();
  #elapsedMs = 0;
  #moving: Promise<void> = Promise.resolve();

  /** @param isAwaited - whether something is awaited that no timer of this clock brings; meanwhile the clock runs at real speed. */
  constructor(startedAtMs: number, isAwaited: () => boolean = () => false) {
    this.#startedAtMs = startedAtMs;
    this.#isAwaited = isAwaited;
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
   * Moves time on and runs the timers that come due, in order, including those started on the way. Promises continue before and after
   * each timer. A move starts when the one before has ended.
   */
  advance(ms: number): Promise<void> {
    this.#moving = this.#moving.then(() => this.#move(this.#elapsedMs + ms));
    return this.#moving;
  }

  /** Jumps to a time, ms on this clock, if no timer is due by then and nothing outside is awaited. @returns false when it cannot. */
  skipTo(ms: number): boolean {
    if (this.#isAwaited() || this.#nextDue(ms) !== undefined) return false;
    this.#elapsedMs = Math.max(this.#elapsedMs, ms);
    return true;
  }

  async #move(untilMs: number): Promise<void> {
    await settled();
    for (let fired = 0; ;) {
      const isHeld = this.#nextDue(this.#elapsedMs) === undefined && this.#elapsedMs < untilMs && this.#isAwaited();
      if (isHeld) {
        await this.#passed(untilMs);
        continue;
      }
      const next = this.#nextDue(untilMs);
      if (next === undefined) break;
      fired += 1;
      if (fired > MAX_FIRED) throw new Error('a timer starts itself again without any delay');
      this.#timers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      next.task();
      await settled();
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, untilMs);
    await settled();
  }

  /** Lets a moment of real time pass, at most up to the next timer. */
  async #passed(untilMs: number): Promise<void> {
    const beganMs = systemClock.monotonicMs();
    // What was awaited may end at once, and nothing else may keep the process alive.
    const release = holdProcess();
    await new Promise<void>((resolve) => systemClock.after(OUTSIDE_POLL_MS, resolve));
    release();
    await settled();
    const limitMs = this.#nextDue(untilMs)?.dueMs ?? untilMs;
    this.#elapsedMs = Math.max(this.#elapsedMs, Math.min(limitMs, this.#elapsedMs + systemClock.monotonicMs() - beganMs));
  }

  /** The first timer that is due by then; of equal ones the oldest. */
  #nextDue(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
    return next;
  }
}

/** Lets promises continue that wait only for each other: an immediate runs after them. */
export function tick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Several ticks, because what a handler gets from streams takes more than one. */
async function settled(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await tick();
}
