// `yield say(text, { ifSilentMs })`: said into a long silence only, and never when something else is said before.
import { describe, expect, it } from 'vitest';
import { bot, go, say, type Saying } from '../../../src/bot/index.ts';
import { FakeVoice, testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const LOOK = 'Let me look.';

/** Key 1 yields `first`, thinks until `goOn`, yields `second`, thinks again and answers. */
async function thinking(first: Saying, second?: Saying, options: Parameters<typeof testEngine>[1] = {}) {
  const thoughts: (() => void)[] = [];
  const thought = () => new Promise<void>((resolve) => thoughts.push(resolve));
  const subject = bot<null>({
    id: 'thinking',
    name: 'Thinking',
    version: 1,
    session_start: () => go(null, say('Hi.').listen()),
    async *dtmf_input() {
      yield first;
      await thought();
      if (second !== undefined) {
        yield second;
        await thought();
      }
      return go(null, say('Found it.').listen());
    },
    otherwise: () => go(null, say('What?').listen()),
  });
  const engine = await testEngine([subject], options);
  const call = new MemoryCall(engine.sessions);
  await call.start();
  engine.clock.advance(5000);
  const timers = engine.clock.pendingTimers;
  const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
  await engine.clock.advanceAsync(0);
  return { ...engine, call, sink, timers, goOn: () => thoughts.shift()?.() };
}

describe('a saying for a silence', () => {
  it('is said when the caller has heard nothing for so long, as a part of the reply', async () => {
    const { clock, sink, call, goOn, timers } = await thinking(say(LOOK, { ifSilentMs: 800 }));
    await clock.advanceAsync(799);
    expect(sink.texts).toEqual([]);
    await clock.advanceAsync(1);
    expect(sink.texts).toEqual([LOOK]);
    await clock.advanceAsync(4000);
    goOn();
    await sink.ended();
    expect(sink.texts).toEqual([LOOK, 'Found it.']);
    expect(clock.pendingTimers).toBe(timers);
    expect((await call.turn({ kind: 'no_input' })).texts).toEqual(['What?']);
  });

  it('is dropped by the reply, which leaves no timer behind', async () => {
    const { clock, sink, goOn, timers } = await thinking(say(LOOK, { ifSilentMs: 800 }));
    await clock.advanceAsync(700);
    goOn();
    await sink.ended();
    expect([sink.texts, clock.pendingTimers]).toEqual([['Found it.'], timers]);
    await clock.advanceAsync(5000);
    expect(sink.texts).toEqual(['Found it.']);
  });

  it('is dropped by the next saying', async () => {
    const { clock, sink, goOn } = await thinking(say(LOOK, { ifSilentMs: 800 }), say('Nearly there.'));
    await clock.advanceAsync(700);
    goOn();
    await clock.advanceAsync(5000);
    expect(sink.texts).toEqual(['Nearly there.']);
  });

  it('counts its silence from the end of what was said before, in the same saying or by another', async () => {
    const { clock, sink } = await thinking(say('One moment.').say(LOOK, { ifSilentMs: 800 }).say('Still looking.', { ifSilentMs: 2000 }));
    // 110 ms of speech before.
    await clock.advanceAsync(909);
    expect(sink.texts).toEqual(['One moment.']);
    await clock.advanceAsync(1);
    expect(sink.texts).toEqual(['One moment.', LOOK]);
    // 120 ms of speech, then the silence.
    await clock.advanceAsync(2119);
    expect(sink.texts).toHaveLength(2);
    await clock.advanceAsync(1);
    expect(sink.texts).toEqual(['One moment.', LOOK, 'Still looking.']);
  });

  it('gives way to words behind it in the same saying', async () => {
    const { clock, sink } = await thinking(say(LOOK, { ifSilentMs: 800 }).say('One moment.'));
    await clock.advanceAsync(5000);
    expect(sink.texts).toEqual(['One moment.']);
  });

  it('is never said in WAV mode, into an interrupted turn, or without a sound', async () => {
    const wav = await thinking(say(LOOK, { ifSilentMs: 800 }), undefined, { settings: { mode: 'wav' } });
    await wav.clock.advanceAsync(2000);
    wav.goOn();
    await wav.sink.ended();
    expect(wav.sink.texts).toEqual(['Found it.']);

    const cut = await thinking(say(LOOK, { ifSilentMs: 800 }));
    await cut.call.open({ kind: 'dtmf_start' });
    await cut.clock.advanceAsync(2000);
    expect(cut.sink.texts).toEqual([]);

    class Unready extends FakeVoice {
      override render(prompt: Parameters<FakeVoice['render']>[0]): ReturnType<FakeVoice['render']> {
        return prompt.kind === 'text' && prompt.text === LOOK ? Promise.resolve(undefined) : super.render(prompt);
      }
    }
    const mute = await thinking(say(LOOK, { ifSilentMs: 800 }), undefined, { voice: new Unready() });
    await mute.clock.advanceAsync(2000);
    mute.goOn();
    await mute.sink.ended();
    expect(mute.sink.texts).toEqual(['Found it.']);
  });

  it('comes instead of a filler, and behind one', async () => {
    const before = await thinking(say(LOOK, { ifSilentMs: 800 }), undefined, { settings: { fillerAfterMs: 1000 } });
    await before.clock.advanceAsync(3000);
    expect(before.sink.texts).toEqual([LOOK]);
    const behind = await thinking(say(LOOK, { ifSilentMs: 1500 }), undefined, { settings: { fillerAfterMs: 1000 } });
    // The filler takes 110 ms.
    await behind.clock.advanceAsync(2609);
    expect(behind.sink.texts).toEqual([TEST_SETTINGS.lines.filler]);
    await behind.clock.advanceAsync(1);
    expect(behind.sink.texts).toEqual([TEST_SETTINGS.lines.filler, LOOK]);
  });

  it('yielded without end does not hold up the process, and ends with the deadline', async () => {
    const endless = bot<null>({
      id: 'endless',
      name: 'Endless',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      *dtmf_input(_state, _event, { signal }) {
        for (let each = 0; !signal.aborted; each += 1) yield say(`Silence ${String(each)}.`, { ifSilentMs: 20_000 });
        return go(null, say('Never.').listen());
      },
      otherwise: () => go(null, say('What?').listen()),
    });
    const { sessions, clock } = await testEngine([endless]);
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(5000);
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(TEST_SETTINGS.turnDeadlineMs);
    await sink.ended();
    expect(sink.texts).toEqual([TEST_SETTINGS.lines.apology]);
  });

  it('is no part of a reply: the bot has failed', async () => {
    const wrong = bot<null>({
      id: 'wrong',
      name: 'Wrong',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: () => go(null, say(LOOK, { ifSilentMs: 800 }).listen()),
    });
    const { sessions, seen } = await testEngine([wrong]);
    const call = new MemoryCall(sessions);
    await call.start();
    expect((await call.press('1')).texts).toEqual([TEST_SETTINGS.lines.apology]);
    expect(seen).toContain('bot_failed bot_failed');
  });
});
