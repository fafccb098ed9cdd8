// A deadline for answers of Redis that is extended when this process stood still, for example in a garbage collection or without CPU time.
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Delay of a timer that shows that the process stood still, ms. */
const STALL_MS = 100;

/** Calls `onLate` once after `limitMs`, or after twice `limitMs` when the process stood still meanwhile. @returns a cancel function. */
export function answerDeadline(limitMs: number, clock: Clock, onLate: () => void): CancelTimer {
  let isCancelled = false;
  let cancelTimer: CancelTimer = () => undefined;
  const arm = (mayExtend: boolean): void => {
    const dueMs = clock.monotonicMs() + limitMs;
    cancelTimer = clock.after(limitMs, () => {
      // Before a standstill the request may not even have been sent.
      if (mayExtend && clock.monotonicMs() - dueMs > STALL_MS) arm(false);
      // First reads answers that have arrived meanwhile.
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
