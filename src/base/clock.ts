// Time as a parameter: no other file reads the clock or starts a timer, so that tests control the time.

/** Cancels a timer that has not fired yet; harmless afterwards. */
export type CancelTimer = () => void;

/** The time source of the whole program. */
export interface Clock {
  /** Wall-clock time in ms since the epoch. */
  nowMs(): number;
  /** Monotonic time in ms, for durations: never steps back. */
  monotonicMs(): number;
  /** Runs `task` once after `delayMs`; the timer alone does not keep the process alive. */
  after(delayMs: number, task: () => void): CancelTimer;
}

/** The real clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    timer.unref();
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Runs `task` every `periodMs` until cancelled; a run never overlaps the next, because the next starts from its end. */
export function every(clock: Clock, periodMs: number, task: () => void): CancelTimer {
  let cancel = clock.after(periodMs, run);
  let stopped = false;
  function run(): void {
    task();
    // The task may have cancelled its own repetition.
    if (!stopped) cancel = clock.after(periodMs, run);
  }
  return () => {
    stopped = true;
    cancel();
  };
}

/** Longest period of a timer, ms. */
const LONGEST_MS = 2 ** 31 - 1;

/** Keeps the process alive, which timers of {@link systemClock} do not, until the returned function is called. */
export function holdProcess(): () => void {
  const timer = setInterval(() => undefined, LONGEST_MS);
  return () => {
    clearInterval(timer);
  };
}
