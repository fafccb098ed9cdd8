import { expect, it } from 'vitest';
import { CallRate } from '../../../src/session/call-rate.ts';
import { FakeClock } from '../../support/fake-clock.ts';

it('forgets organizations that begin no calls, and keeps nothing of those without a limit', () => {
  const clock = new FakeClock();
  const rate = new CallRate({ perSecondOf: (organizationId) => (organizationId === 'free' ? 0 : 1), clock });
  for (let count = 0; count < 1000; count += 1) rate.began(`o-${String(count)}`);
  rate.began('free');
  expect([rate.size, rate.isOver('free')]).toEqual([1000, false]);
  clock.advance(6000);
  rate.began('o-1');
  expect(rate.size).toBe(1);
});

it('is over after as many calls as five seconds may bring, and not for ever', () => {
  const clock = new FakeClock();
  const rate = new CallRate({ perSecondOf: () => 1, clock });
  for (let count = 0; count < 5; count += 1) {
    expect(rate.isOver('a')).toBe(false);
    rate.began('a');
  }
  expect(rate.isOver('a')).toBe(true);
  clock.advance(999);
  expect(rate.isOver('a')).toBe(true);
  clock.advance(1);
  expect(rate.isOver('a')).toBe(false);
});
