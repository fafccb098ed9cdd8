import { describe, expect, it } from 'vitest';
import { CallTimelines } from '../../../src/telemetry/call-timeline.ts';
import { callFacts, notifyAll } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function make(maxCalls = 3): { timelines: CallTimelines; clock: FakeClock } {
  const clock = new FakeClock();
  return { timelines: new CallTimelines({ clock, maxCalls }), clock };
}

describe('a search', () => {
  it('finds kept calls by everything that is asked for at once, the latest first', () => {
    const { timelines, clock } = make();
    const calls = ['conv-1', 'conv-2', 'other'].map((conversationId, index) => {
      const call = callFacts({ conversationId, organizationId: index === 2 ? 'b' : 'a', startedAtMs: clock.nowMs() });
      timelines.sessionStarted(call);
      timelines.turnStarted(call, `${conversationId}#1`, `track-${String(index)}`);
      clock.advance(1000);
      return call;
    });
    timelines.sessionEnded(calls[1] ?? callFacts(), 'caller');
    const ids = (search: Parameters<CallTimelines['search']>[0], max = 10): readonly string[] =>
      timelines.search(search, max).map(({ conversationId }) => conversationId);
    expect(ids({})).toEqual(['other', 'conv-2', 'conv-1']);
    expect(ids({}, 2)).toEqual(['other', 'conv-2']);
    expect(ids({ organizationId: 'a' })).toEqual(['conv-2', 'conv-1']);
    expect(ids({ organizationId: 'a', end: 'open' })).toEqual(['conv-1']);
    expect(ids({ end: 'caller' })).toEqual(['conv-2']);
    expect(ids({ conversationId: 'conv' })).toEqual(['conv-2', 'conv-1']);
    expect(ids({ conversationId: 'onv' })).toEqual([]);
    expect(ids({ trackingId: 'track-2' })).toEqual(['other']);
    const [first = 0, second = 0] = calls.map(({ startedAtMs }) => startedAtMs);
    expect(ids({ fromMs: second })).toEqual(['other', 'conv-2']);
    expect(ids({ fromMs: first, untilMs: first })).toEqual(['conv-1']);
    expect(timelines.search({ end: 'caller' }, 1)).toEqual([
      {
        ...{ conversationId: 'conv-2', organizationId: 'a', agentId: 'echo', startedAtMs: second },
        end: 'caller',
        durationMs: 2000,
        turns: 1,
      },
    ]);
  });
});

describe('CallTimelines', () => {
  it('keeps what happened in a call, each fact with its time since the start', () => {
    const { timelines, clock } = make();
    const call = callFacts({ startedAtMs: clock.nowMs() });
    timelines.sessionStarted(call);
    clock.advance(20);
    timelines.turnStarted(call, 'conv#1', 'platform-7');
    clock.advance(1500.6);
    timelines.bargeIn(call, 'conv#1', 'speech', 340.4);
    timelines.botAnswered(call, 'conv#1', 61.5);
    timelines.turnEnded(call, 'conv#1', 'replied');
    expect(timelines.find('conv')).toEqual({
      ...{ conversationId: 'conv', organizationId: 'org', agentId: 'echo', startedAtMs: 1_800_000_000_000 },
      ...{ end: undefined, leftOut: 0 },
      facts: [
        { atMs: 0, event: 'session_started' },
        { atMs: 20, event: 'turn_started', turnId: 'conv#1', trackingId: 'platform-7' },
        { atMs: 1521, event: 'barge_in', turnId: 'conv#1', by: 'speech', heardMs: 340 },
        { atMs: 1521, event: 'bot_answered', turnId: 'conv#1', tookMs: 62 },
        { atMs: 1521, event: 'turn_ended', turnId: 'conv#1', end: 'replied' },
      ],
    });
    timelines.sessionEnded(call, 'bot_end');
    expect(timelines.find('conv')).toMatchObject({ end: 'bot_end' });
    expect(timelines.find('another')).toBeUndefined();
  });

  it('keeps every kind of fact, and P-14 nothing that the caller sent or an error said', () => {
    const { timelines } = make();
    const call = callFacts({ vendorConfig: 'CANARY', parameters: { name: 'CANARY' } });
    notifyAll(timelines, call);
    expect(timelines.find('conv')?.facts.map(({ event }) => event)).toEqual([
      ...['session_started', 'turn_started', 'input_started', 'barge_in', 'input_ended', 'recognized', 'prompt_resumed', 'bot_asked'],
      ...['filler_spoken', 'reply_started', 'bot_answered', 'tool_used', 'model_reported', 'bot_failed', 'reply_repeated', 'slow_reader'],
      ...['answer_parts', 'turn_ended', 'session_ended'],
    ]);
    expect(JSON.stringify([timelines.find('conv'), timelines.recent()])).not.toContain('CANARY');
  });

  it('remembers so many calls, the latest first, and forgets the oldest also while it runs', () => {
    const { timelines } = make(2);
    const calls = ['1', '2', '3'].map((conversationId) => callFacts({ conversationId }));
    for (const call of calls) timelines.sessionStarted(call);
    for (const call of calls) timelines.turnStarted(call, 't');
    expect(timelines.recent()).toMatchObject([
      { conversationId: '3', factCount: 2 },
      { conversationId: '2', factCount: 2 },
    ]);
    expect(timelines.recent()[0]).not.toHaveProperty('facts');
    expect(timelines.find('1')).toBeUndefined();
  });

  it('finds the latest one of a conversation that began anew', () => {
    const { timelines } = make();
    const first = callFacts();
    timelines.sessionStarted(first);
    timelines.sessionEnded(first, 'idle');
    timelines.sessionStarted(callFacts());
    expect(timelines.find('conv')).toMatchObject({ end: undefined });
    expect(timelines.recent().map(({ end }) => end)).toEqual([undefined, 'idle']);
  });

  it('is bounded for a call that never ends: the latest facts stay, with the number of the others', () => {
    const { timelines } = make();
    const call = callFacts();
    timelines.sessionStarted(call);
    for (let turn = 0; turn < 10_000; turn += 1) timelines.turnStarted(call, String(turn));
    const found = timelines.find('conv');
    expect(found?.facts.length).toBe(500);
    expect(found?.leftOut).toBe(9501);
    expect(found?.facts.at(-1)).toMatchObject({ turnId: '9999' });
  });

  it('keeps nothing when it is switched off', () => {
    const { timelines } = make(0);
    notifyAll(timelines, callFacts());
    expect(timelines.recent()).toEqual([]);
  });
});
