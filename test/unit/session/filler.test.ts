import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import { FakeVoice, testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { filler } = TEST_SETTINGS.lines;

/** Answers a key when `answer` is called; key 2 speaks at once and goes on thinking. */
async function slowCall(settings: Parameters<typeof testEngine>[1] = {}) {
  const answers: (() => void)[] = [];
  const thought = () => new Promise<void>((resolve) => answers.push(resolve));
  const slow = bot<null>({
    id: 'slow',
    name: 'Slow',
    version: 1,
    session_start: () => go(null, say('Hi.').listen()),
    async *dtmf_input(_, { digits }) {
      if (digits === '2') yield say('Let me look.');
      await thought();
      return go(null, say('Found it.').listen());
    },
    otherwise: () => go(null, say('What?').listen()),
  });
  const engine = await testEngine([slow], { ...settings, settings: { fillerAfterMs: 1500, ...settings.settings } });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  engine.clock.advance(5000);
  return {
    ...engine,
    call,
    answer: () => {
      answers.shift()?.();
    },
  };
}

describe('a bot that takes its time', () => {
  it('lets the caller hear a filler once, then its answer', async () => {
    const { call, clock, answer } = await slowCall();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(1499);
    expect(sink.texts).toEqual([]);
    await clock.advanceAsync(1);
    expect(sink.texts).toEqual([filler]);
    await clock.advanceAsync(4000);
    answer();
    await sink.ended();
    expect(sink.texts).toEqual([filler, 'Found it.']);
  });

  it('says its own fillers one after the other, and each once', async () => {
    const answers: (() => void)[] = [];
    const patient = bot<null>({
      id: 'patient',
      name: 'Patient',
      version: 1,
      filler: { afterMs: 800, say: ['Let me see.', 'Still looking.'], everyMs: 3000 },
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: async () => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return go(null, say('Found it.').listen());
      },
    });
    // The operator's filler gives way to the bot's.
    const { sessions, clock } = await testEngine([patient], { settings: { fillerAfterMs: 100, turnDeadlineMs: 60_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(799);
    expect(sink.texts).toEqual([]);
    await clock.advanceAsync(1);
    expect(sink.texts).toEqual(['Let me see.']);
    // 110 ms of speech, then 3 s of silence.
    await clock.advanceAsync(3109);
    expect(sink.texts).toHaveLength(1);
    await clock.advanceAsync(1);
    expect(sink.texts).toEqual(['Let me see.', 'Still looking.']);
    await clock.advanceAsync(20_000);
    for (const answer of answers) answer();
    await sink.ended();
    expect(sink.texts).toEqual(['Let me see.', 'Still looking.', 'Found it.']);
  });

  it('says no filler when it has answered, has spoken, or the setting is off', async () => {
    for (const [digits, settings] of [
      ['2', {}],
      ['1', { fillerAfterMs: 0 }],
      ['1', { mode: 'wav' }],
    ] as const) {
      const { call, clock, answer } = await slowCall({ settings });
      const { sink } = await call.open({ kind: 'dtmf', digits });
      await clock.advanceAsync(5000);
      answer();
      await sink.ended();
      expect(sink.texts).not.toContain(filler);
    }
  });

  it('says no filler into a turn that the caller has talked over', async () => {
    const { call, clock } = await slowCall();
    const first = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(1000);
    const second = await call.open({ kind: 'dtmf', digits: '2' });
    await clock.advanceAsync(3000);
    expect(first.sink.texts).toEqual([]);
    second.turn.abort('hang_up');
  });

  it('says no filler whose sound is not ready', async () => {
    class Unready extends FakeVoice {
      override render(prompt: Parameters<FakeVoice['render']>[0]): ReturnType<FakeVoice['render']> {
        return prompt.kind === 'text' && prompt.text === filler ? new Promise(() => undefined) : super.render(prompt);
      }
    }
    const { call, clock, answer } = await slowCall({ voice: new Unready() });
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(2000);
    answer();
    await sink.ended();
    expect(sink.texts).toEqual(['Found it.']);
  });

  it('leaves no timer behind', async () => {
    const { call, clock, answer } = await slowCall();
    const before = clock.pendingTimers;
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(10);
    answer();
    await sink.ended();
    expect(clock.pendingTimers).toBe(before);
  });

  it('does not lose its welcome to a caller who talks over the filler', async () => {
    const welcomes: (() => void)[] = [];
    const late = bot<null>({
      id: 'late',
      name: 'Late',
      version: 1,
      session_start: async () => {
        await new Promise<void>((resolve) => welcomes.push(resolve));
        return go(null, say('Welcome.').listen());
      },
      otherwise: () => go(null, say('What?').listen()),
    });
    const { sessions, clock } = await testEngine([late], { settings: { fillerAfterMs: 1500 } });
    const call = new MemoryCall(sessions);
    const { sink } = await call.open({ kind: 'session_start', name: '', parameters: {} });
    await clock.advanceAsync(1600);
    expect(sink.texts).toEqual([filler]);
    const keys = await call.open({ kind: 'dtmf_start' });
    keys.turn.halfClose();
    await clock.advanceAsync(1000);
    welcomes.shift()?.();
    await sink.ended();
    expect(sink.texts).toEqual([filler, 'Welcome.']);
  });
});
