// What a generator yields: spoken in order, the next one made while one is spoken, and the time for which its bot may be silent.
import { describe, expect, it } from 'vitest';
import { bot, go, say, type Saying } from '../../../src/bot/index.ts';
import type { BotContext } from '../../../src/bot/bot.ts';
import type { Prompt } from '../../../src/dialog/reply.ts';
import { FakeVoice, testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { turnDeadlineMs } = TEST_SETTINGS;
const { apology } = TEST_SETTINGS.lines;

/** Needs a second for each text of a reply, and says when it was asked for which. */
class SecondVoice extends FakeVoice {
  readonly asked: string[] = [];
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    super();
    this.#clock = clock;
  }

  override render(prompt: Prompt): ReturnType<FakeVoice['render']> {
    const sound = super.render(prompt);
    if (prompt.kind !== 'text' || prompt.text === 'Hi.' || prompt.text === apology) return sound;
    this.asked.push(`${prompt.text} ${String(this.#clock.monotonicMs())}`);
    return new Promise((resolve) => {
      this.#clock.after(1000, () => {
        resolve(sound);
      });
    });
  }
}

type Talk = (context: BotContext, yielded: (what: string) => void) => AsyncGenerator<Saying, Saying> | Generator<Saying, Saying>;

/** A key, pressed at 1000 ms, is answered with `talk`. */
async function answered(talk: Talk, settings = {}) {
  const clock = new FakeClock();
  const voice = new SecondVoice(clock);
  const done: string[] = [];
  const talker = bot<null>({
    ...{ id: 'talker', name: 'Talker', version: 1 },
    session_start: () => go(null, say('Hi.').listen()),
    async *dtmf_input(_state, _event, context) {
      const reply = yield* talk(context, (what) => done.push(`${what} ${String(clock.monotonicMs())}`));
      return go(null, reply.listen());
    },
    otherwise: () => go(null, say('What?').listen()),
  });
  const engine = await testEngine([talker], { clock, voice, settings });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await clock.advanceAsync(1000 - clock.monotonicMs());
  const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
  await flushMicrotasks();
  return { ...engine, call, sink, voice, done };
}

describe('sayings of a generator', () => {
  it('are made while the one before is spoken, and the generator waits with the third', async () => {
    const { clock, voice, done, sink } = await answered(function* (_context, yielded) {
      for (const text of ['One.', 'Two.', 'Three.']) {
        yield say(text);
        yielded(text);
      }
      return say('Done.');
    });
    await clock.advanceAsync(3000);
    await sink.ended();
    expect(sink.texts).toEqual(['One.', 'Two.', 'Three.', 'Done.']);
    expect(voice.asked).toEqual(['One. 1000', 'Two. 1000', 'Three. 2000', 'Done. 2000']);
    expect(done).toEqual(['One. 1000', 'Two. 2000', 'Three. 2000']);
  });

  it('are heard to their end before the apology of a handler that fails', async () => {
    const { clock, sink } = await answered(function* () {
      yield say('One.');
      yield say('Two.');
      if (clock.monotonicMs() > 0) throw new Error('broken');
      return say('Never.');
    });
    await clock.advanceAsync(5000);
    await sink.ended();
    expect(sink.texts).toEqual(['One.', 'Two.', apology]);
  });

  it('give their handler its whole time again from the end of what is heard', async () => {
    const { clock, sink, seen } = await answered(async function* ({ clock: time }) {
      for (let count = 0; count < 4; count += 1) {
        await new Promise<void>((resolve) => time.after(turnDeadlineMs - 500, resolve));
        yield say('A sentence that is heard.');
      }
      return say('Done.');
    });
    await clock.advanceAsync(5 * turnDeadlineMs + 5000);
    await sink.ended();
    expect(sink.texts.at(-1)).toBe('Done.');
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toEqual([]);
  });

  it('do not keep a caller waiting in silence for longer than the time limit', async () => {
    const { clock, sink } = await answered(async function* () {
      yield say('x'.repeat(100));
      await new Promise(() => undefined);
      return say('Never.');
    });
    // The text is made for a second, and heard for another.
    await clock.advanceAsync(2000 + turnDeadlineMs - 1);
    expect(sink.end).toBe('open');
    await clock.advanceAsync(1);
    await sink.ended();
    expect(sink.texts.at(-1)).toBe(apology);
  });
});
