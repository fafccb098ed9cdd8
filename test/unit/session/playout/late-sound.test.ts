import { describe, expect, it } from 'vitest';
import { bot, go, play, say, type Saying } from '../../../../src/bot/index.ts';
import type { Prompt } from '../../../../src/dialog/reply.ts';
import { FakeVoice, testEngine } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';

/** Longest wait of the engine for one sound, ms. */
const LIMIT_MS = 5000;

/** Has no sound yet for what begins with "Late", and speaks it when the test says so; gives it up for whoever leaves. */
class LateVoice extends FakeVoice {
  readonly asked: string[] = [];
  #speak: (() => void)[] = [];

  override render(prompt: Prompt, signal?: AbortSignal): ReturnType<FakeVoice['render']> {
    const name = prompt.kind === 'text' ? prompt.text : prompt.kind === 'file' ? prompt.file : '';
    if (!name.startsWith('Late')) return super.render(prompt);
    if (signal?.aborted === true) return undefined;
    this.asked.push(name);
    return new Promise((resolve) => {
      this.#speak.push(() => {
        resolve(super.render(prompt));
      });
    });
  }

  speakAll(): void {
    for (const speak of this.#speak.splice(0)) speak();
  }
}

/** A key is answered with `yields`, one after the other, and with `reply`. */
async function answeredWith(reply: Saying, yields: readonly Saying[] = [], settings = {}) {
  const voice = new LateVoice();
  const talker = bot<null>({
    id: 'talker',
    name: 'Talker',
    version: 1,
    session_start: () => go(null, say('Hi.').listen()),
    async *dtmf_input() {
      for (const saying of yields) {
        await Promise.resolve();
        yield saying;
      }
      return go(null, reply.listen());
    },
    otherwise: () => go(null, say('What?').listen()),
  });
  const engine = await testEngine([talker], { voice, settings });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await engine.clock.advanceAsync(1000);
  const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
  await flushMicrotasks();
  return { ...engine, call, sink, voice };
}

describe('a sound that comes late', () => {
  it.each(['chunk', 'wav'] as const)('G-43 is waited for once, reported, and replaced by its text in %s mode', async (mode) => {
    const { clock, sink, voice } = await answeredWith(say('Late is the hour.').say('Good.'), [], { mode });
    await clock.advanceAsync(LIMIT_MS - 1);
    expect([sink.end, voice.givenUp]).toEqual(['open', []]);
    await clock.advanceAsync(1);
    await sink.ended();
    expect(voice.givenUp).toMatchObject([{ kind: 'text', text: 'Late is the hour.' }]);
    expect([...sink.texts].sort()).toEqual(['Good.', 'Late is the hour.']);
  });

  it('keeps a caller waiting once in a turn, however many texts a generator speaks', async () => {
    const yields = Array.from({ length: 12 }, (_, index) => say(`Late ${String(index)}.`));
    const { clock, sink, voice } = await answeredWith(say('Done.'), yields);
    await clock.advanceAsync(LIMIT_MS);
    await sink.ended();
    expect(sink.texts).toEqual(
      [...yields, say('Done.')].flatMap(({ prompts }) => prompts.map((prompt) => (prompt.kind === 'text' ? prompt.text : ''))),
    );
    // The second was being made while the first was waited for.
    expect(voice.asked).toEqual(['Late 0.', 'Late 1.']);
    expect(voice.givenUp).toHaveLength(12);
  });

  it('is played where it was asked for in time and is there when its turn comes', async () => {
    const { clock, sink, voice } = await answeredWith(say('Late first.').say('Late second.'));
    await clock.advanceAsync(LIMIT_MS - 1);
    expect(voice.asked).toEqual(['Late first.', 'Late second.']);
    voice.speakAll();
    await sink.ended();
    expect(sink.texts).toEqual(['Late first.', 'Late second.']);
    expect(voice.givenUp).toEqual([]);
  });

  it('is waited for again in the next turn', async () => {
    const { call, clock, sink, voice } = await answeredWith(say('Late is the hour.'));
    await clock.advanceAsync(LIMIT_MS);
    await sink.ended();
    const { sink: next } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(LIMIT_MS - 1);
    voice.speakAll();
    await next.ended();
    expect(next.kinds).toEqual(['prompt', 'final']);
  });

  it('does not make a turn impatient with recordings, nor a late recording with texts', async () => {
    const { clock, sink, voice } = await answeredWith(play('Late.wav').say('Late text.').play('Later.wav'));
    await clock.advanceAsync(LIMIT_MS);
    await clock.advanceAsync(LIMIT_MS - 1);
    expect(sink.end).toBe('open');
    await clock.advanceAsync(1);
    await sink.ended();
    expect(voice.givenUp.map(({ kind }) => kind)).toEqual(['file', 'text', 'file']);
  });

  it('is no late one when the caller acts over it', async () => {
    const { call, clock, voice } = await answeredWith(say('Late is the hour.'));
    await clock.advanceAsync(1000);
    const next = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(LIMIT_MS - 1);
    expect(voice.givenUp).toEqual([]);
    voice.speakAll();
    await next.sink.ended();
    expect(next.sink.texts).toEqual(['Late is the hour.']);
  });
});
