// In which language and by whom the engine has texts spoken, and in which its own lines are.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import { ES } from '../../../src/dialog/languages/es.ts';
import type { Prompt } from '../../../src/dialog/reply.ts';
import { FakeVoice, testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

/** Notes who speaks what. */
class NotedVoice extends FakeVoice {
  readonly noted: string[] = [];

  override render(prompt: Prompt): ReturnType<FakeVoice['render']> {
    if (prompt.kind === 'text') this.noted.push([prompt.language ?? '-', prompt.voice ?? '-', prompt.text].join(' '));
    return super.render(prompt);
  }
}

async function calling(choice: { readonly language?: string; readonly voice?: string }) {
  const voice = new NotedVoice();
  const speaking = bot<null>({
    id: 'speaking',
    name: 'Speaking',
    version: 1,
    ...choice,
    session_start: () => go(null, say('A').say('B', { language: 'de' }).say('C', { voice: 'own' }).listen()),
    dtmf_input: (_, { digits }) => {
      if (digits === '1') return new Promise(() => undefined);
      throw new Error('broken');
    },
    otherwise: () => go(null, say('D').listen()),
  });
  const linesByLanguage = new Map([['es', ES.lines]]);
  const engine = await testEngine([speaking], { voice, settings: { fillerAfterMs: 1500, linesByLanguage } });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await engine.clock.advanceAsync(5000);
  return { ...engine, call, voice };
}

describe('a bot with a language and a voice', () => {
  it('has its texts spoken in them, and a text in another language not in its voice', async () => {
    const { voice } = await calling({ language: 'es-MX', voice: 'lola' });
    expect(voice.noted).toEqual(['es-MX lola A', 'de - B', 'es-MX own C']);
  });

  it('is excused in them, too: filler, apology, and transfer', async () => {
    const { voice, call, clock } = await calling({ language: 'es-MX', voice: 'lola' });
    voice.noted.length = 0;
    await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(1500);
    await clock.advanceAsync(TEST_SETTINGS.turnDeadlineMs);
    await clock.advanceAsync(5000);
    await call.press('2');
    await flushMicrotasks();
    const { filler, apology, transfer } = ES.lines;
    expect(voice.noted).toEqual([filler, apology, transfer].map((line) => `es-MX lola ${line}`));
  });

  it('speaks as the operator chose where it chose nothing itself', async () => {
    const { voice, call } = await calling({});
    await call.press('2');
    expect(voice.noted).toEqual(['- - A', 'de - B', '- own C', `- - ${TEST_SETTINGS.lines.apology}`]);
  });

  it('whose language has no lines is excused in the operator’s', async () => {
    const { voice, call } = await calling({ language: 'it' });
    await call.press('2');
    expect(voice.noted.at(-1)).toBe(`it - ${TEST_SETTINGS.lines.apology}`);
  });
});
