// A call whose limits are so wide that only what a test sets ends it, and which has to leave no timer behind.
import { expect } from 'vitest';
import { scaledClock } from '../../src/base/scaled-clock.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { placeCall, type CallOptions, type CallResult } from '../../src/fake-platform/caller/caller.ts';
import { CountedClock } from './counted-clock.ts';

/** Calls an address at ten times the pace; afterwards no timer is left. */
export async function patientCall(target: string, more: Partial<CallOptions> = {}): Promise<CallResult> {
  const clock = new CountedClock(scaledClock(10));
  const result = await placeCall({
    target,
    profile: loadProfile('fake'),
    organizationId: 'o-1',
    clock,
    ...more,
    limits: { connectMs: 60_000, answerMs: 60_000, callMs: 200_000, hangUpMs: 60_000, ...more.limits },
  });
  expect(clock.pendingTimers).toBe(0);
  return result;
}
