// A clock that stands still until a test moves it: fires timers in the order of their due time, exactly when a test
// says so. It knows nothing of what it times, and never touches the real clock.

import type { CancelTimer, Clock } from '../../src/base/clock.ts';

interface FakeTimer {
  readonly id: number;
  readonly dueMs: number;
  readonly task: () => void;
}

/** More timers than this within one advance mean that a test moves a clock over a timer that re-arms itself with no delay. */
const MAX_FIRED_PER_ADVANCE = 1_000_000;

/** A `Clock` under the test's control. Wall time starts at 1 800 000 000 000 ms (2027), monotonic time at 0. */
export class FakeClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;
  #nextId = 0;
  readonly #timers = new Map<number, FakeTimer>();

  /** @param startMs wall-clock time at the start, in ms since the epoch. */
  constructor(startMs = 1_800_000_000_000) {
    this.#wallMs = startMs;
  }

  nowMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  after(delayMs: number, task: () => void): CancelTimer {
    const id = this.#nextId++;
    // As with the real clock, a delay that is negative or no number means "as soon as possible", never "in the past".
    this.#timers.set(id, { id, dueMs: this.#monotonicMs + (delayMs > 0 ? delayMs : 0), task });
    return () => {
      this.#timers.delete(id);
    };
  }

  /** Timers that are armed and have not fired: 0 proves that nothing was left behind. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Ms until the next timer is due, or undefined when none is armed. */
  get nextTimerInMs(): number | undefined {
    const next = this.#nextDue(Infinity);
    return next === undefined ? undefined : next.dueMs - this.#monotonicMs;
  }

  /** Moves time forward by `ms` and fires, in order, every timer that comes due, also those armed on the way. */
  advance(ms: number): void {
    const targetMs = this.#targetMs(ms);
    for (let fired = 0; this.#fireNext(targetMs); fired++) guard(fired);
    this.#moveTo(targetMs);
  }

  /** Like `advance`, but lets promise callbacks run before the first timer, after each timer and at the end. */
  async advanceAsync(ms: number): Promise<void> {
    const targetMs = this.#targetMs(ms);
    await flushMicrotasks();
    for (let fired = 0; this.#fireNext(targetMs); fired++) {
      guard(fired);
      await flushMicrotasks();
    }
    this.#moveTo(targetMs);
    await flushMicrotasks();
  }

  /** Moves time at once, as for a process that stood still: what came due meanwhile fires then, once, and sees how late it is. */
  jump(ms: number): void {
    const targetMs = this.#targetMs(ms);
    this.#moveTo(targetMs);
    for (let fired = 0; this.#fireNext(targetMs); fired++) guard(fired);
  }

  /** Steps the wall clock alone (a correction by the time service); monotonic time and timers are not touched. */
  stepWall(ms: number): void {
    this.#wallMs += ms;
  }

  #targetMs(ms: number): number {
    if (!(ms >= 0) || ms === Infinity) throw new RangeError(`a clock cannot be advanced by ${String(ms)} ms`);
    return this.#monotonicMs + ms;
  }

  #fireNext(targetMs: number): boolean {
    const timer = this.#nextDue(targetMs);
    if (timer === undefined) return false;
    this.#timers.delete(timer.id);
    this.#moveTo(timer.dueMs);
    timer.task();
    return true;
  }

  #nextDue(targetMs: number): FakeTimer | undefined {
    let next: FakeTimer | undefined;
    // Insertion order decides between equal due times, because only an earlier time replaces the candidate.
    for (const timer of this.#timers.values()) {
      if (timer.dueMs <= targetMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  }

  #moveTo(monotonicMs: number): void {
    // A task may itself have advanced the clock; time never goes back.
    if (monotonicMs <= this.#monotonicMs) return;
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }
}

/** Lets every promise callback that is ready run, including long chains, without waiting for any real timer or socket. */
export function flushMicrotasks(): Promise<void> {
  // An immediate runs after the microtask queue is empty, however long the chains in it are.
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function guard(fired: number): void {
  if (fired >= MAX_FIRED_PER_ADVANCE) throw new Error('a timer re-arms itself without any delay: the clock would never arrive');
}
