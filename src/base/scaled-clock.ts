// A clock that runs faster than another one: a call of a minute takes three seconds at pace 20. For work over real sockets, whose delays a
// stopped test clock cannot control.
import { systemClock, type Clock } from './clock.ts';

/** A clock that runs `pace` times as fast as `clock`, from the moment it is made; its monotonic time begins at 0. */
export function scaledClock(pace: number, clock: Clock = systemClock): Clock {
  const zeroWallMs = clock.nowMs();
  const zeroMs = clock.monotonicMs();
  const elapsed = (): number => (clock.monotonicMs() - zeroMs) * pace;
  return {
    nowMs: () => zeroWallMs + elapsed(),
    monotonicMs: elapsed,
    after: (delayMs, task) => clock.after(delayMs / pace, task),
  };
}
