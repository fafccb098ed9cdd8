// What those who watch a call are notified of: the observer, the log, and a bot's notifying handlers.
import { describe, expect, it } from 'vitest';
import { bot, go, say, type BotContext } from '../../../src/bot/index.ts';
import type { SessionObserver } from '../../../src/session/ports.ts';
import { LINE_SILENCE, WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const WELCOME = 'Welcome, and please listen for a while.';

const plain = bot<null>({
  id: 'plain',
  name: 'Plain',
  version: 1,
  session_start: () => go(null, say(WELCOME).listen()),
  dtmf_input: (_, { digits }) => go(null, digits === '9' ? say('Bye.').end() : say('Yes?').listen()),
  otherwise: () => go(null, say('What?').listen()),
});

/** An observer that writes down which turn each thing was about. */
function writing(lines: string[]): SessionObserver {
  return {
    sessionStarted: ({ conversationId }) => lines.push(`${conversationId} began`),
    turnStarted: (_, id) => lines.push(`${id} opened`),
    turnEnded: (_, id, end) => lines.push(`${id} ${end}`),
    speechStarted: (_, id) => lines.push(`${id} speaks`),
    speechEnded: (_, id) => lines.push(`${id} spoke`),
    bargeIn: (_, id, by, heardMs) => lines.push(`${id} cuts with ${by} after ${String(heardMs)}`),
    botFailed: (_, id, { code }) => lines.push(`${id} ${code}`),
    sessionEnded: ({ conversationId }, end) => lines.push(`${conversationId} ended by ${end}`),
  };
}

describe('an observer', () => {
  it('is notified of what happens on which turn, and of the start and end of speech alone', async () => {
    const lines: string[] = [];
    const { sessions, clock } = await testEngine([plain], { observer: writing(lines) });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(100);
    await call.press('1');
    clock.advance(1000);
    await call.turn(...WHOLE_SENTENCE);
    await call.hangUp();
    expect(lines).toEqual([
      'call-1 began',
      'call-1#1 opened',
      'call-1#1 replied',
      'call-1#2 opened',
      'call-1#2 cuts with keys after 100',
      'call-1#2 replied',
      'call-1#3 opened',
      'call-1#3 speaks',
      'call-1#3 spoke',
      'call-1#3 replied',
      'call-1#4 opened',
      'call-1 ended by caller',
      'call-1#4 hang_up',
    ]);
  });

  it('need not take part in anything', async () => {
    const deaf = bot<null>({
      id: 'deaf',
      name: 'Deaf',
      version: 1,
      audio_input: () => {
        throw new Error('no model');
      },
      session_start: () => go(null, say(WELCOME).listen()),
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const { sessions, clock } = await testEngine([deaf], { observer: {}, settings: { maxSessions: 1 } });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(100);
    expect((await call.turn(...WHOLE_SENTENCE)).texts).toContain('Yes?');
    await expect(new MemoryCall(sessions, { conversationId: '2' }).start()).rejects.toMatchObject({ code: 'overloaded' });
    expect((await call.hangUp()).next).toEqual({ kind: 'gone' });
  });

  it('is notified once of a bot that fails on the audio of a call, and of one that fails at its end', async () => {
    const lines: string[] = [];
    const failing = bot<null>({
      id: 'failing',
      name: 'Failing',
      version: 1,
      audio_input: () => {
        throw new Error('no model');
      },
      session_start: () => go(null, say(WELCOME).listen()),
      otherwise: () => go(null, say('Yes?').listen()),
      session_end: () => {
        throw new Error('no report');
      },
    });
    const { sessions, clock } = await testEngine([failing], { observer: writing(lines) });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    await call.turn(LINE_SILENCE, LINE_SILENCE);
    await call.hangUp();
    await flushMicrotasks();
    expect(lines.filter((line) => line.endsWith('bot_failed'))).toEqual(['call-1#audio bot_failed', 'call-1#end bot_failed']);
  });

  it('is notified why a turn ended that got no answer', async () => {
    const lines: string[] = [];
    const { sessions, clock } = await testEngine([plain], { observer: writing(lines), settings: { maxFarewellMs: 30_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    await call.open({ kind: 'dtmf', digits: '9' });
    await flushMicrotasks();
    // Last words are being spoken: nobody waits behind them (G-7C).
    await call.press('1');
    const idle = new MemoryCall(sessions, { conversationId: 'call-2' });
    await idle.start();
    await idle.open(LINE_SILENCE);
    const hungUp = new MemoryCall(sessions, { conversationId: 'call-3' });
    await hungUp.start();
    await hungUp.open(LINE_SILENCE);
    await hungUp.hangUp();
    await clock.advanceAsync(700_000);
    expect(lines).toEqual(
      expect.arrayContaining(['call-1#3 superseded', 'call-2#2 deadline', 'call-3#2 hang_up', 'call-3#3 hang_up', 'call-2 ended by idle']),
    );
  });
});

describe('the notifying handlers of a bot', () => {
  it('are notified of the turns of its session, and last of its end', async () => {
    const told: string[] = [];
    const note = (what: string, { turnId }: BotContext): void => {
      told.push(`${turnId} ${what}`);
    };
    const noting = bot<null>({
      id: 'noting',
      name: 'Noting',
      version: 1,
      session_start: () => go(null, say(WELCOME).listen()),
      otherwise: () => go(null, say('Yes?').listen()),
      turn_started: (_, { type }, context) => {
        note(type, context);
      },
      turn_ended: (_, { type, reason }, context) => {
        note(`${type} ${reason}`, context);
      },
      barge_in: (_, { type, by }, context) => {
        note(`${type} ${by}`, context);
      },
      session_end: (_, { type, by }, context) => {
        note(`${type} ${by}`, context);
      },
    });
    const { sessions, clock } = await testEngine([noting]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(100);
    await call.press('1');
    const lost = await call.open(LINE_SILENCE);
    lost.turn.abort('hang_up');
    await call.hangUp();
    await flushMicrotasks();
    expect(told).toEqual([
      'call-1#1 turn_ended replied',
      'call-1#2 turn_started',
      'call-1#2 barge_in keys',
      'call-1#2 turn_ended replied',
      'call-1#3 turn_started',
      'call-1#3 turn_ended hang_up',
      'call-1#4 turn_started',
      'call-1#end session_end caller',
    ]);
  });
});
