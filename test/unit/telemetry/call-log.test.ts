import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { createLogger } from '../../../src/base/log.ts';
import type { CallFacts } from '../../../src/dialog/call.ts';
import { createCallLog } from '../../../src/telemetry/call-log.ts';
import { notifyAll } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function setUp(): {
  observer: ReturnType<typeof createCallLog>;
  lines: () => Record<string, unknown>[];
  text: () => string;
  clock: FakeClock;
  call: CallFacts;
} {
  const written: string[] = [];
  const clock = new FakeClock();
  const log = createLogger({ level: 'debug', destination: { write: (line: string) => void written.push(line) } });
  const call: CallFacts = {
    organizationId: 'org-1',
    conversationId: 'conv-1',
    agentId: 'echo',
    startedAtMs: clock.nowMs(),
    vendorConfig: 'CANARY',
    parameters: { name: 'CANARY' },
  };
  return {
    observer: createCallLog({ log, clock }),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
    text: () => written.join(''),
    clock,
    call,
  };
}

describe('the call log', () => {
  it('P-02 writes one JSON line per event, each with the ids of call and turn', () => {
    const { observer, lines, clock, call } = setUp();
    observer.sessionStarted(call);
    observer.turnStarted(call, 'turn-1', 'platform-7');
    observer.replyStarted(call, 'turn-1', 123.4, 0);
    observer.bargeIn(call, 'turn-1', 'speech', 340.6);
    observer.turnEnded(call, 'turn-1', 'interrupted');
    clock.advance(61_000);
    observer.sessionEnded(call, 'bot_transfer');
    const ids = { conversationId: 'conv-1', organizationId: 'org-1' };
    const turn = { ...ids, turnId: 'turn-1', trackingId: 'platform-7' };
    expect(lines()).toEqual([
      expect.objectContaining({ level: 'info', event: 'session_started', ...ids, agentId: 'echo' }),
      expect.objectContaining({ level: 'debug', event: 'turn_started', ...turn }),
      expect.objectContaining({ level: 'info', event: 'reply_started', ...turn, latencyMs: 123 }),
      expect.objectContaining({ level: 'info', event: 'barge_in', ...turn, by: 'speech', heardMs: 341 }),
      expect.objectContaining({ level: 'info', event: 'turn_ended', ...turn, end: 'interrupted' }),
      expect.objectContaining({ level: 'info', event: 'session_ended', ...ids, end: 'bot_transfer', durationMs: 61_000 }),
    ]);
  });

  it('P-02 has the tracking id on every line of a turn, and forgets it when the turn is over', () => {
    const { observer, lines, call } = setUp();
    notifyAll(observer, call, 'turn-1');
    expect(lines().filter(({ turnId }) => turnId !== undefined).length).toBe(13);
    expect(lines().filter(({ turnId, trackingId }) => (turnId === undefined) !== (trackingId === undefined))).toEqual([]);
    observer.bargeIn(call, 'turn-1', 'keys', 0);
    expect(lines().at(-1)).not.toHaveProperty('trackingId');
  });

  it('names the place where a bot failed, and P-14 nothing of what the error said', () => {
    const { observer, lines, text, call } = setUp();
    const cause = new RangeError('caller said CANARY\n    at CANARY (the moon)');
    observer.botFailed(call, 'turn-1', new AppError('bot_failed', 'CANARY', { cause }));
    observer.botFailed(call, 'turn-2', new AppError('bot_timeout', 'CANARY', { cause: 'CANARY' }));
    observer.sessionStarted(call);
    expect(lines()[0]).toMatchObject({ level: 'warn', event: 'bot_failed', turnId: 'turn-1', code: 'bot_failed', thrown: 'RangeError' });
    expect(lines()[0]?.['at']).toEqual(expect.arrayContaining([expect.stringMatching(/call-log\.test\.ts:\d+:\d+/u)]));
    expect(lines()[1]).toMatchObject({ code: 'bot_timeout', thrown: 'string', at: [] });
    expect(text()).not.toContain('CANARY');
  });
});
