// The deadline of a turn: it counts the time that somebody thinks, and stands still while somebody else is waited for.
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../../src/session/answer/deadline.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const LIMIT_MS = 500;

/** A deadline that began a second after its clock. */
function begun(): { readonly clock: FakeClock; readonly deadline: Deadline; readonly expiredAt: number[] } {
  const clock = new FakeClock();
  const expiredAt: number[] = [];
  clock.advance(1000);
  const deadline = new Deadline(clock, LIMIT_MS);
  deadline.onExpired = () => expiredAt.push(clock.monotonicMs());
  return { clock, deadline, expiredAt };
}

describe('a deadline', () => {
  it('leaves out the time for which it was paused, however often that is said', () => {
    const { clock, deadline, expiredAt } = begun();
    clock.advance(200);
    deadline.pause();
    clock.advance(10_000);
    deadline.pause();
    clock.advance(10_000);
    deadline.resume();
    clock.advance(100);
    deadline.pause();
    deadline.resume();
    clock.advance(10_000);
    expect(expiredAt).toEqual([1000 + 20_000 + LIMIT_MS]);
  });

  it('expires once, although it is resumed while it runs', () => {
    const { clock, deadline, expiredAt } = begun();
    clock.advance(200);
    deadline.resume();
    clock.advance(10_000);
    expect(expiredAt).toEqual([1000 + LIMIT_MS]);
  });

  it('counts anew from the end of what is heard, or from the moment at which that is cut off', () => {
    const { clock, deadline, expiredAt } = begun();
    clock.advance(400);
    deadline.pause();
    deadline.resume(2000);
    clock.advance(1000);
    deadline.cutOff();
    clock.advance(10_000);
    expect(expiredAt).toEqual([2400 + LIMIT_MS]);
  });

  it('is not made longer by a cut when nothing is heard, nor begun by one while it is paused', () => {
    const { clock, deadline, expiredAt } = begun();
    clock.advance(400);
    deadline.cutOff();
    deadline.pause();
    deadline.cutOff();
    clock.advance(10_000);
    deadline.resume();
    clock.advance(10_000);
    expect(expiredAt).toEqual([1000 + 10_000 + LIMIT_MS]);
  });

  it('never expires once it was cancelled, and leaves no timer', () => {
    const { clock, deadline, expiredAt } = begun();
    deadline.cancel();
    deadline.resume();
    expect(clock.pendingTimers).toBe(0);
    clock.advance(10_000);
    expect(expiredAt).toEqual([]);
  });
});
