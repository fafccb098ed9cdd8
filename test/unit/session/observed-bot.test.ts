// What an operator learns of a bot at work: how long it took, what of it failed and by how much, and in whose call.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { Recognizer, SessionObserver } from '../../../src/session/ports.ts';
import { REPORT } from '../../support/call-events.ts';
import { WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { DefectiveVoice, TEST_SETTINGS, testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { turnDeadlineMs } = TEST_SETTINGS;
const { apology, transfer: transferPrompt, filler } = TEST_SETTINGS.lines;
const STATE_LIMIT_BYTES = 500;
const WELCOME = 'Hello, what can I do for you?';

/** Answers most keys when one of `answers` is called. */
function clerk(answers: (() => void)[]) {
  return bot<string>({
    id: 'clerk',
    name: 'Clerk',
    version: 1,
    session_start: () => go('', say(WELCOME).listen()),
    dtmf_input: async (state, { digits }, { log, report }) => {
      switch (digits) {
        case '2':
          throw new TypeError('no such tool');
        case '3':
          // Its JSON form has two quotation marks.
          return go('x'.repeat(STATE_LIMIT_BYTES - 2), say('Noted.').listen());
        case '4':
          return go('x'.repeat(STATE_LIMIT_BYTES - 1), say('Noted.').listen());
        case '5':
          log.info({ step: 'billing' }, 'asked for a bill');
          return go(state, say('One bill.').listen());
        case '6':
          report?.(REPORT);
          return go(state, say('Counted.').listen());
        default:
          await new Promise<void>((resolve) => answers.push(resolve));
          return go(state, say('Fine.').listen());
      }
    },
    otherwise: (state) => go(state, say('What?').listen()),
  });
}

/** A call after its welcome, and what the observer gets from then on. */
async function watched(settings: Partial<typeof TEST_SETTINGS> = {}, recognizer?: Recognizer) {
  const told: (readonly unknown[])[] = [];
  const observer: SessionObserver = {
    botAsked: (_call, turnId, type) => told.push(['asked', turnId, type]),
    botAnswered: (_call, turnId, tookMs) => told.push(['answered', turnId, tookMs]),
    botFailed: (_call, _turnId, { code, details }) => told.push(['failed', code, details]),
    fillerSpoken: (_call, turnId) => told.push(['filler', turnId]),
    modelReported: (_call, turnId, report) => told.push(['model', turnId, report]),
    promptResumed: (_call, turnId) => told.push(['resumed', turnId]),
  };
  const answers: (() => void)[] = [];
  const engine = await testEngine([clerk(answers)], { observer, settings, ...(recognizer === undefined ? {} : { recognizer }) });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  told.length = 0;
  return { ...engine, call, told, answers };
}

describe('what the observer learns of a bot', () => {
  it('is what a model of the bot did in a turn, in the words of the bot', async () => {
    const { call, told } = await watched();
    const { sink } = await call.open({ kind: 'dtmf', digits: '6' });
    await sink.ended();
    expect(told).toContainEqual(['model', 'call-1#2', REPORT]);
  });

  it('is how long each answer took, and of a caller who hears a filler meanwhile', async () => {
    const { call, clock, told, answers } = await watched({ fillerAfterMs: 1500 });
    clock.advance(5000);
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(2500);
    answers.shift()?.();
    await sink.ended();
    expect(sink.texts).toEqual([filler, 'Fine.']);
    // The caller need not wait for the end of it to press a key.
    expect(sink.outputs[0]).toMatchObject({ kind: 'prompt', prompt: { bargeIn: true } });
    expect(told).toEqual([
      ['asked', 'call-1#2', 'dtmf_input'],
      ['filler', 'call-1#2'],
      ['answered', 'call-1#2', 2500],
    ]);
  });

  it('names no filler where none can be heard', async () => {
    const { call, clock, told, answers } = await watched({ fillerAfterMs: 1500, mode: 'wav' });
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(2500);
    answers.shift()?.();
    await sink.ended();
    expect(told.map(([what]) => what)).toEqual(['asked', 'answered']);
  });

  it('is the limit that a bot has passed', async () => {
    const { call, clock, told } = await watched();
    await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(turnDeadlineMs);
    expect(told).toContainEqual(['failed', 'bot_timeout', { limitMs: turnDeadlineMs }]);
  });

  it('is by how much a state is too large, and nothing of one that just fits', async () => {
    const { call, told } = await watched({ maxStateBytes: STATE_LIMIT_BYTES });
    expect((await call.press('3')).texts).toEqual(['Noted.']);
    expect((await call.press('4')).texts).toEqual([apology]);
    expect(told.filter(([what]) => what === 'failed')).toEqual([
      ['failed', 'bot_failed', { bytes: STATE_LIMIT_BYTES + 1, limitBytes: STATE_LIMIT_BYTES }],
    ]);
  });

  it('is that prompts went on behind a false interruption, and not so behind an answer that nobody waited for', async () => {
    const { call, clock, told } = await watched({}, { recognize: () => Promise.resolve(undefined) });
    clock.advance(100);
    await call.turn(...WHOLE_SENTENCE);
    expect(told).toEqual([['resumed', 'call-1#2']]);
    clock.advance(5000);
    await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(1000);
    expect(told.filter(([what]) => what === 'resumed')).toHaveLength(1);
  });
});

describe('an observer that watches nothing', () => {
  it('breaks no call in which all kinds of things go wrong', async () => {
    const noting = bot<null>({
      id: 'noting',
      name: 'Noting',
      version: 1,
      session_start: () => go(null, say(WELCOME).listen()),
      dtmf_input: () => {
        throw new TypeError('no such tool');
      },
      otherwise: () => go(null, say('What?').listen()),
      turn_started: () => {
        throw new TypeError('no such tool');
      },
    });
    const voice = new DefectiveVoice();
    const { sessions, log } = await testEngine([noting], { observer: {}, voice });
    const call = new MemoryCall(sessions);
    expect((await call.start()).texts).toEqual([WELCOME]);
    expect((await call.press('1')).texts).toEqual([apology]);
    expect((await call.turn({ kind: 'no_input' })).texts).toEqual(['What?']);
    expect(log.lines).toEqual([]);
    voice.defectiveText = 'What?';
    expect((await call.turn({ kind: 'no_input' })).texts).toEqual([transferPrompt]);
  });
});

describe('a log line', () => {
  it('P-02 of a bot names the bot, the call and the turn', async () => {
    const { call, log } = await watched();
    await call.press('5');
    expect(log.lines).toEqual([
      {
        level: 'info',
        message: 'asked for a bill',
        step: 'billing',
        bot: 'clerk',
        conversationId: 'call-1',
        organizationId: 'org',
        turnId: 'call-1#2',
      },
    ]);
  });

  it('P-02 of a client that does not read names the call, the turn and the code (G-91)', async () => {
    const { call, clock, log } = await watched();
    const { turn, sink } = await call.open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '5' });
    await clock.advanceAsync(TEST_SETTINGS.slowReaderMs);
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { conversationId: 'call-1', organizationId: 'org', turnId: 'call-1#2', code: 'slow_reader' },
    ]);
  });
});
