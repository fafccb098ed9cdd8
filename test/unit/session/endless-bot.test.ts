// Bots that talk and do not come to an end: the caller hears something sane in bounded time, and nothing stays open behind them.
import { describe, expect, it } from 'vitest';
import { bot, go, play, say, type Saying } from '../../../src/bot/index.ts';
import type { PromptVoice } from '../../../src/session/ports.ts';
import { FakeVoice, testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { turnDeadlineMs, slowReaderMs, apology, handover } = TEST_SETTINGS;

/** A key makes it talk for ever; `finish` runs when it is told to stop. */
function endless(saying: (count: number) => Saying, finish: () => Promise<void> = () => Promise.resolve()) {
  return bot<null>({
    id: 'endless',
    name: 'Endless',
    version: 1,
    session_start: () => go(null, say('Hi.').listen()),
    async *dtmf_input() {
      try {
        for (let count = 0; count < 1e9; count += 1) {
          yield saying(count);
          await Promise.resolve();
        }
      } finally {
        await finish();
      }
      return go(null, say('Never.').listen());
    },
    otherwise: () => go(null, say('Yes?').listen()),
  });
}

/** Every text takes three seconds to be made, less than what is given up. */
class SlowVoice extends FakeVoice implements PromptVoice {
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    super();
    this.#clock = clock;
  }

  override render(...[prompt]: Parameters<FakeVoice['render']>): ReturnType<PromptVoice['render']> {
    const sound = super.render(prompt);
    if (prompt.kind !== 'text' || prompt.text === apology || prompt.text === 'Hi.') return sound;
    return new Promise((resolve) => {
      this.#clock.after(3000, () => {
        resolve(sound);
      });
    });
  }
}

/** Every recording has five minutes. */
class LongRecordings extends FakeVoice {
  override render(...[prompt]: Parameters<FakeVoice['render']>): ReturnType<PromptVoice['render']> {
    return prompt.kind === 'file' ? { mulaw: new Uint8Array(8), durationMs: 300_000 } : super.render(prompt);
  }
}

describe('a bot that speaks without end', () => {
  it('in sounds that take long to make is stopped in WAV mode at the deadline: nothing of them is heard before', async () => {
    const clock = new FakeClock();
    const talker = endless((count) => say(`Sentence ${String(count)}.`));
    const { sessions } = await testEngine([talker], { clock, voice: new SlowVoice(clock), settings: { mode: 'wav' } });
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(turnDeadlineMs);
    expect([sink.end, sink.texts.at(-1)]).toEqual(['complete', apology]);
    await sessions.close(0);
  });

  it.each(['chunk', 'wav'] as const)('in long sounds gets no further than twenty minutes ahead of the caller in %s mode', async (mode) => {
    const { sessions, seen } = await testEngine([endless(() => play('long.wav'))], { settings: { mode }, voice: new LongRecordings() });
    const call = new MemoryCall(sessions);
    await call.start();
    const sink = await call.press('1');
    const sounds = sink.outputs.flatMap((output) =>
      output.kind === 'prompt' ? [output.prompt] : output.kind === 'final' ? output.prompts : [],
    );
    expect(sounds.map(({ text, audio }) => text ?? audio?.durationMs)).toEqual([...Array.from({ length: 5 }, () => 300_000), apology]);
    expect(seen).toContain('bot_failed bot_failed');
  });

  it('and does not stop when it is told to frees the call when its reader is gone', async () => {
    const stubborn = endless(
      () => say('La.'),
      () => new Promise(() => undefined),
    );
    const { sessions, clock } = await testEngine([stubborn]);
    const call = new MemoryCall(sessions);
    await call.start();
    const { turn, sink } = await call.open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(slowReaderMs);
    expect(sink.end).toMatchObject({ code: 'slow_reader' });
    expect((await call.press('2')).end).toBe('complete');
  });

  it('leaves the next turn to somebody else after the second time', async () => {
    const { sessions } = await testEngine([endless(() => say('La.'))]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.press('1');
    expect((await call.press('1')).texts.at(-1)).toBe(handover);
  });
});
