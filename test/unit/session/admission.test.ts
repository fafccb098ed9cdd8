import { describe, expect, it } from 'vitest';
import { Admission, ADMISSION_REFUSALS, refusedCall, type AdmissionLimits, type LoadReading } from '../../../src/session/admission.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const OFF: AdmissionLimits = {
  maxSessions: 100,
  perOrganization: { maxSessions: 0, maxNewPerSecond: 0 },
  organizations: new Map(),
  maxStreams: 100,
  maxLoopDelayMs: 0,
  maxRssBytes: 0,
  maxHeapPercent: 0,
};

class SetLoad {
  loopDelayMs = 0;
  rssBytes = 0;
  heapPercent = 0;
  readings = 0;
  reading(): LoadReading {
    this.readings += 1;
    return this;
  }
}

function make(limits: Partial<AdmissionLimits>): { admission: Admission; load: SetLoad; clock: FakeClock } {
  const load = new SetLoad();
  const clock = new FakeClock();
  return { admission: new Admission({ limits: { ...OFF, ...limits }, load, clock }), load, clock };
}

describe('Admission', () => {
  it('takes as many sessions as it may, and one more when one is over', () => {
    const { admission } = make({ maxSessions: 2 });
    admission.sessionStarted('a');
    expect(admission.refusal('b')).toBeUndefined();
    admission.sessionStarted('b');
    expect(admission.refusal('c')).toBe('total');
    admission.sessionEnded('a');
    expect(admission.refusal('c')).toBeUndefined();
    expect(admission.sessions).toBe(1);
  });

  it('takes as many sessions of one organization as it may, and others meanwhile', () => {
    const { admission } = make({ perOrganization: { maxSessions: 1, maxNewPerSecond: 0 } });
    admission.sessionStarted('a');
    expect(admission.refusal('a')).toBe('organization');
    expect(admission.refusal('b')).toBeUndefined();
    admission.sessionEnded('a');
    expect(admission.refusal('a')).toBeUndefined();
  });

  it('counts the other sessions of an organization on when one of them is over', () => {
    const { admission } = make({ perOrganization: { maxSessions: 2, maxNewPerSecond: 0 } });
    admission.sessionStarted('a');
    admission.sessionStarted('a');
    admission.sessionEnded('a');
    expect(admission.refusal('a')).toBeUndefined();
    admission.sessionStarted('a');
    expect(admission.refusal('a')).toBe('organization');
  });

  it('lets an organization begin calls no faster than it may, some seconds of them at once, and others meanwhile', () => {
    const { admission, clock } = make({ perOrganization: { maxSessions: 0, maxNewPerSecond: 2 } });
    const taken = (organizationId: string): number => {
      let count = 0;
      for (; count < 100 && admission.refusal(organizationId) === undefined; count += 1) admission.callBegan(organizationId);
      return count;
    };
    expect(taken('a')).toBe(10);
    expect(admission.refusal('a')).toBe('organization_rate');
    expect(admission.refusal('b')).toBeUndefined();
    clock.advance(1000);
    expect(taken('a')).toBe(2);
    clock.advance(60_000);
    expect(taken('a')).toBe(10);
  });

  it('has limits of its own for an organization that is named, and asking alone uses nothing up', () => {
    const organizations = new Map([['big', { maxSessions: 0, maxNewPerSecond: 0 }]]);
    const { admission } = make({ maxSessions: 1000, perOrganization: { maxSessions: 1, maxNewPerSecond: 1 }, organizations });
    for (let count = 0; count < 100; count += 1) {
      expect(admission.refusal('big')).toBeUndefined();
      expect(admission.refusal('small')).toBeUndefined();
      admission.callBegan('big');
      admission.sessionStarted('big');
    }
    admission.sessionStarted('small');
    expect(admission.refusal('small')).toBe('organization');
  });

  it('takes no new calls beyond its streams, and gives running calls as many again', () => {
    const { admission } = make({ maxStreams: 2 });
    expect([admission.streamOpened(), admission.streamOpened()]).toEqual([true, true]);
    expect(admission.refusal('a')).toBeUndefined();
    expect(admission.streamOpened()).toBe(true);
    expect(admission.refusal('a')).toBe('streams');
    expect([admission.streamOpened(), admission.streamOpened()]).toEqual([true, false]);
    for (let stream = 0; stream < 3; stream += 1) admission.streamClosed();
    expect(admission.refusal('a')).toBeUndefined();
  });

  it('takes none while it drains, whatever else is free', () => {
    const { admission } = make({});
    admission.drain();
    expect(admission.refusal('a')).toBe('draining');
  });

  it('refuses while the event loop is late, and does not flap around the limit', () => {
    const { admission, load, clock } = make({ maxLoopDelayMs: 100 });
    load.loopDelayMs = 100;
    expect(admission.refusal('a')).toBeUndefined();
    load.loopDelayMs = 101;
    expect(admission.refusal('a')).toBe('loop_delay');
    // Just below the limit is not calm, however long.
    load.loopDelayMs = 99;
    clock.advance(60_000);
    expect(admission.refusal('a')).toBe('loop_delay');
    load.loopDelayMs = 70;
    clock.advance(2999);
    expect(admission.refusal('a')).toBe('loop_delay');
    clock.advance(1);
    expect(admission.refusal('a')).toBeUndefined();
    // And a value between calm and limit is no reason to begin again.
    load.loopDelayMs = 99;
    expect(admission.refusal('a')).toBeUndefined();
  });

  it('needs no call to notice that it has been calm', () => {
    const { admission, load, clock } = make({ maxLoopDelayMs: 100 });
    load.loopDelayMs = 500;
    expect(admission.refusal('a')).toBe('loop_delay');
    load.loopDelayMs = 1;
    clock.advance(60_000);
    expect(admission.refusal('a')).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['rssBytes', { maxRssBytes: 1000 }, 1001, 940],
    ['heapPercent', { maxHeapPercent: 90 }, 91, 85],
  ] as const)('refuses while %s is above its limit', (member, limits, high, calm) => {
    const { admission, load, clock } = make(limits);
    load[member] = high;
    expect(admission.refusal('a')).toBe('memory');
    load[member] = calm;
    clock.advance(3000);
    expect(admission.refusal('a')).toBeUndefined();
  });

  it('has no limit of load that is switched off', () => {
    const { admission, load } = make({});
    Object.assign(load, { loopDelayMs: 1e6, rssBytes: 1e12, heapPercent: 100 });
    expect(admission.refusal('a')).toBeUndefined();
  });

  it('counts sessions that were never asked for, because running calls come back', () => {
    const { admission } = make({ maxSessions: 1 });
    admission.sessionStarted('a');
    admission.sessionStarted('a');
    expect(admission.sessions).toBe(2);
    expect(admission.refusal('a')).toBe('total');
  });
});

describe('the error of a refused call', () => {
  it('names the organization to the log', () => {
    expect(refusedCall('organization', { organizationId: 'a' }).details).toEqual({ reason: 'organization', organizationId: 'a' });
  });

  it.each(ADMISSION_REFUSALS)('says %s in its details', (reason) => {
    const error = refusedCall(reason);
    const codes: Readonly<Record<string, string>> = { draining: 'shutting_down', store: 'store_unavailable' };
    expect(error.code).toBe(codes[reason] ?? 'overloaded');
    expect(error.details).toEqual({ reason });
    expect('cause' in error).toBe(false);
  });

  it('name the organization and the cause where they are known', () => {
    const cause = new Error('down');
    const error = refusedCall('store', { organizationId: 'org', cause });
    expect([error.details, error.cause]).toEqual([{ reason: 'store', organizationId: 'org' }, cause]);
  });
});

describe('sessions and their admission', () => {
  const plain = bot<null>({
    id: 'plain',
    name: 'Plain',
    version: 1,
    session_start: () => go(null, say('Welcome.').listen()),
    otherwise: () => go(null, say('Yes?').listen()),
  });

  it('refuse one organization more calls than it may have, and take those of others', async () => {
    const { sessions, seen } = await testEngine([plain], { limits: { perOrganization: { maxSessions: 1, maxNewPerSecond: 0 } } });
    const first = new MemoryCall(sessions, { organizationId: 'a', conversationId: '1' });
    await first.start();
    const second = new MemoryCall(sessions, { organizationId: 'a', conversationId: '2' });
    await expect(second.start()).rejects.toMatchObject({ code: 'overloaded', details: { reason: 'organization' } });
    expect((await new MemoryCall(sessions, { organizationId: 'b', conversationId: '3' }).start()).texts).toEqual(['Welcome.']);
    await first.hangUp();
    expect((await second.start()).texts).toEqual(['Welcome.']);
    expect(seen).toContain('call_refused organization');
  });

  it('leave running calls alone when the process is too busy for new ones', async () => {
    const load = { loopDelayMs: 0, rssBytes: 0, heapPercent: 0 };
    const { sessions, clock, seen } = await testEngine([plain], { limits: { maxLoopDelayMs: 100 }, load });
    const running = new MemoryCall(sessions, { conversationId: 'running' });
    await running.start();
    load.loopDelayMs = 400;
    const refused = new MemoryCall(sessions, { conversationId: 'new' });
    await expect(refused.start()).rejects.toMatchObject({ details: { reason: 'loop_delay' } });
    expect((await running.press('1')).texts).toEqual(['Yes?']);
    load.loopDelayMs = 0;
    await clock.advanceAsync(3000);
    expect((await refused.start()).texts).toEqual(['Welcome.']);
    expect(seen.filter((line) => line.startsWith('call_refused'))).toEqual(['call_refused loop_delay']);
  });

  it('give the place of a session back however it ended', async () => {
    const { sessions, clock } = await testEngine([plain], { settings: { maxSessions: 1 } });
    await new MemoryCall(sessions, { conversationId: 'forgotten' }).start();
    await clock.advanceAsync(TEST_SETTINGS.idleTimeoutMs + TEST_SETTINGS.sweepMs);
    expect((await new MemoryCall(sessions, { conversationId: 'next' }).start()).texts).toEqual(['Welcome.']);
    expect(sessions.size).toBe(1);
  });
});
