import { describe, expect, it } from 'vitest';
import { LinePacer } from '../../../src/base/line-pacer.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('LinePacer', () => {
  it('lets one line per key and second through, and counts the others', () => {
    const clock = new FakeClock();
    const pacer = new LinePacer<'a' | 'b'>(clock);
    expect([pacer.next('a'), pacer.next('a'), pacer.next('a')]).toEqual([0, undefined, undefined]);
    expect(pacer.next('b')).toBe(0);
    clock.advance(999);
    expect(pacer.next('a')).toBeUndefined();
    clock.advance(1);
    expect([pacer.next('a'), pacer.next('a')]).toEqual([3, undefined]);
    clock.advance(5000);
    expect([pacer.next('a'), pacer.next('b')]).toEqual([1, 0]);
  });

  it('needs no timer', () => {
    const clock = new FakeClock();
    new LinePacer(clock).next('a');
    expect(clock.pendingTimers).toBe(0);
  });
});
