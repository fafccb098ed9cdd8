// A deadline for answers of Redis. It does not count the time that this process stood still, as in a garbage collection or on a
// starved machine.
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** A timer that is later than this shows that the process stood still, ms. */
const STALL_MS = 100;

/** Calls `onLate` once after `limitMs`, or after twice that when the process stood still meanwhile. @returns a cancel function. */
export function answerDeadline(limitMs: number, clock: Clock, onLate: () => void): CancelTimer {
  let isCancelled = false;
  let cancelTimer: CancelTimer = () => undefined;
  const arm = (mayExtend: boolean): void => {
    const dueMs = clock.monotonicMs() + limitMs;
    cancelTimer = clock.after(limitMs, () => {
      // A request made before a standstill may not even have been sent.
      if (mayExtend && clock.monotonicMs() - dueMs > STALL_MS) arm(false);
      // Answers that have arrived meanwhile are read first.
      else {
        setImmediate(() => {
          if (!isCancelled) onLate();
        });
      }
    });
  };
  arm(true);
  return () => {
    isCancelled = true;
    cancelTimer();
  };
}
