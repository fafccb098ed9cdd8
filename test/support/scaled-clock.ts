// The real clock, running faster: a call of a minute takes three seconds at pace 20. For tests over real sockets, where
// a clock that stands still cannot work because nobody knows when a socket delivers.
import { systemClock, type Clock } from '../../src/base/clock.ts';

/** A clock that runs `pace` times as fast as the real one, from the moment it is made. */
export function scaledClock(pace: number): Clock {
  const zeroWallMs = systemClock.nowMs();
  const zeroMs = systemClock.monotonicMs();
  const elapsed = (): number => (systemClock.monotonicMs() - zeroMs) * pace;
  return {
    nowMs: () => zeroWallMs + elapsed(),
    monotonicMs: elapsed,
    after: (delayMs, task) => systemClock.after(delayMs / pace, task),
  };
}
