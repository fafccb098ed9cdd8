import { describe, expect, it } from 'vitest';
import type { CallFacts } from '../../../src/dialog/call.ts';
import { CallTimelines } from '../../../src/telemetry/call-timeline.ts';
import { joinedCall, joinedCalls } from '../../../src/telemetry/joined-timelines.ts';
import { callFacts } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function processes(): { readonly clock: FakeClock; readonly one: CallTimelines; readonly other: CallTimelines } {
  const clock = new FakeClock();
  const make = (): CallTimelines => new CallTimelines({ clock, maxCalls: 5 });
  return { clock, one: make(), other: make() };
}

/** A call in one process, and as the other one reads it from the store. */
function sameCall(clock: FakeClock): readonly [CallFacts, CallFacts] {
  const call = callFacts({ startedAtMs: clock.nowMs() });
  return [call, { ...call }];
}

describe('a call that two processes have seen', () => {
  it('is one story in the order in which it happened', () => {
    const { clock, one, other } = processes();
    const [call, again] = sameCall(clock);
    one.sessionStarted(call);
    clock.advance(100);
    one.turnStarted(call, 'a');
    clock.advance(900);
    other.sessionStarted(again, true);
    one.sessionEnded(call, 'moved');
    clock.advance(500);
    other.turnStarted(again, 'b');
    const seen = [other, one].flatMap((calls) => calls.find('conv') ?? []);
    expect(joinedCall(seen)).toEqual({
      ...{ conversationId: 'conv', organizationId: 'org', agentId: 'echo', startedAtMs: 1_800_000_000_000, end: undefined, leftOut: 0 },
      facts: [
        { atMs: 0, event: 'session_started' },
        { atMs: 100, event: 'turn_started', turnId: 'a' },
        { atMs: 1000, event: 'session_continued' },
        { atMs: 1000, event: 'session_ended', end: 'moved' },
        { atMs: 1500, event: 'turn_started', turnId: 'b' },
      ],
    });
    other.sessionEnded(again, 'bot_end');
    expect(joinedCalls([one.recent(), other.recent()], 5)).toMatchObject([{ conversationId: 'conv', end: 'bot_end', factCount: 6 }]);
  });

  it('has moved when both have let it go', () => {
    const { clock, one, other } = processes();
    const [call, again] = sameCall(clock);
    one.sessionStarted(call);
    one.sessionEnded(call, 'moved');
    other.sessionStarted(again, true);
    other.sessionEnded(again, 'moved');
    expect(joinedCalls([one.recent(), other.recent()], 5)).toMatchObject([{ end: 'moved' }]);
  });
});

describe('the calls of several processes', () => {
  it('are listed the latest first, and no more than one process would remember', () => {
    const { clock, one, other } = processes();
    for (const [index, calls] of [one, other, one, other].entries()) {
      calls.sessionStarted(callFacts({ conversationId: String(index), startedAtMs: clock.nowMs() }));
      clock.advance(10);
    }
    const listed = joinedCalls([one.recent(), other.recent()], 3);
    expect(listed.map(({ conversationId }) => conversationId)).toEqual(['3', '2', '1']);
    expect(joinedCalls([], 3)).toEqual([]);
  });

  it('are not confused when organizations have the same conversation id: the latest one is found', () => {
    const { clock, one, other } = processes();
    one.sessionStarted(callFacts({ organizationId: 'early', startedAtMs: clock.nowMs() }));
    clock.advance(10);
    other.sessionStarted(callFacts({ organizationId: 'late', startedAtMs: clock.nowMs() }));
    expect(joinedCalls([one.recent(), other.recent()], 5).map(({ organizationId }) => organizationId)).toEqual(['late', 'early']);
    expect(joinedCall([one, other].flatMap((calls) => calls.find('conv') ?? []))).toMatchObject({ organizationId: 'late' });
    expect(joinedCall([])).toBeUndefined();
  });
});
