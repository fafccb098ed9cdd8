// When an answer counts as missing: by the server's time to answer and not by the time that this process stood still, as it
// does for a collection of garbage or on a starved machine.
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** A timer that is later than this shows that the process stood still, ms. */
const STALL_MS = 100;

/** Calls `onLate` once after `limitMs`, or after as much again when the process stood still meanwhile. @returns what cancels it. */
export function answerDeadline(limitMs: number, clock: Clock, onLate: () => void): CancelTimer {
  let isCancelled = false;
  let cancelTimer: CancelTimer = () => undefined;
  const arm = (mayExtend: boolean): void => {
    const dueMs = clock.monotonicMs() + limitMs;
    cancelTimer = clock.after(limitMs, () => {
      // What was asked before a standstill may not even have been sent.
      if (mayExtend && clock.monotonicMs() - dueMs > STALL_MS) arm(false);
      // What has arrived meanwhile is read first.
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
