import { expect, it } from 'vitest';
import type { CallTimeline } from '../../../src/telemetry/call-timeline.ts';
import { timelineView } from '../../../src/telemetry/timeline-view.ts';

const CALL = { conversationId: 'conv', organizationId: 'org', agentId: 'echo', startedAtMs: 1000, leftOut: 0 };
const PARTS = { endpointingMs: 400, recognitionMs: 1, botMs: 2, modelMs: 3, toolsMs: 4, synthesisMs: 5, engineMs: 6 };

it('shows the turns of a timeline with what is known of them', () => {
  const timeline: CallTimeline = {
    ...CALL,
    end: 'caller',
    facts: [
      { atMs: 0, event: 'session_started' },
      { atMs: 1, event: 'turn_started', turnId: 'conv#1', trackingId: 'track' },
      { atMs: 2, event: 'bot_asked', turnId: 'conv#1', botEvent: 'session_start' },
      { atMs: 9, event: 'turn_ended', turnId: 'conv#1', end: 'replied' },
      { atMs: 100, event: 'turn_started', turnId: 'conv#2' },
      { atMs: 500, event: 'barge_in', turnId: 'conv#2', by: 'speech', heardMs: 340 },
      { atMs: 500, event: 'input_started', turnId: 'conv#2' },
      { atMs: 1500, event: 'input_ended', turnId: 'conv#2', silenceMs: 400 },
      { atMs: 1501, event: 'bot_asked', turnId: 'conv#2', botEvent: 'speech_input' },
      { atMs: 1510, event: 'bot_answered', turnId: 'conv#2', tookMs: 9 },
      { atMs: 1510, event: 'bot_failed', turnId: 'conv#2', code: 'bot_failed' },
      { atMs: 1520, event: 'reply_started', turnId: 'conv#2', latencyMs: 20 },
      { atMs: 1530, event: 'answer_parts', turnId: 'conv#2', ...PARTS },
      { atMs: 1540, event: 'session_ended', end: 'caller' },
    ],
  };
  const view = timelineView(timeline, 99_000);
  expect(view.call).toEqual({
    ...{ conversationId: 'conv', organizationId: 'org', agentId: 'echo', startedAtMs: 1000, durationMs: 1540, end: 'caller' },
  });
  expect(view.turns).toEqual([
    {
      ...{ id: 'conv#1', number: 1, trackingId: 'track', atMs: 1, prompts: [], endMs: 9, end: 'replied' },
      input: { kind: 'start', atMs: 2, completeMs: 2 },
    },
    {
      ...{ id: 'conv#2', number: 2, atMs: 100, prompts: [], firstSoundMs: 1520, parts: PARTS },
      input: { kind: 'speech', atMs: 500, completeMs: 1500, lastSoundMs: 1100 },
      bargeIn: { atMs: 500, by: 'speech', heardMs: 340 },
      error: { code: 'bot_failed', message: 'the log has the line of the bot' },
    },
  ]);
  expect(view.events.slice(0, 3)).toEqual([
    { atMs: 0, from: 'server', event: 'session_started' },
    { atMs: 1, from: 'platform', event: 'turn_started', turn: 1 },
    { atMs: 2, from: 'server', event: 'bot_asked', turn: 1, detail: 'session_start' },
  ]);
  expect(view.events.find(({ event }) => event === 'bot_answered')).toMatchObject({ from: 'bot', turn: 2, ms: 9 });
  expect(view.events.find(({ event }) => event === 'barge_in')).toMatchObject({ from: 'caller', detail: 'speech, heardMs 340' });
});

it('shows a call that goes on until now, and numbers its turns as the engine does when the first ones are gone', () => {
  const view = timelineView({ ...CALL, end: undefined, leftOut: 7, facts: [{ atMs: 5, event: 'turn_started', turnId: 'conv#40' }] }, 3500);
  expect(view.call).toMatchObject({ durationMs: 2500 });
  expect(view.call).not.toHaveProperty('end');
  expect(view.turns.map(({ number }) => number)).toEqual([40]);
});
