import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import type { Bot } from '../../../../src/bot/bot.ts';
import type { Input } from '../../../../src/dialog/input.ts';
import type { PromptAudio } from '../../../../src/dialog/output.ts';
import { encodeMulaw, MULAW_SILENCE } from '../../../../src/speech/g711.ts';
import { readWav } from '../../../../src/speech/wav.ts';
import { FakeVoice, snapshotOf, TEST_SETTINGS, testEngine } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';

const SPEECH = encodeMulaw(readWav(readFileSync(new URL('../../../fixtures/speech/sentence.wav', import.meta.url))).samples);
const SILENCE = new Uint8Array(16_000).fill(MULAW_SILENCE);
const audio = (bytes: Uint8Array): Input => ({ kind: 'audio', audio: bytes });
const LONG_MS = 20_000;

/** Key 1 is answered by `misdeed`, every other input with what it was. */
function botWith(misdeed: (signal: AbortSignal) => ReturnType<Bot['reply']>): Bot {
  return bot<{ readonly heard: readonly string[] }>({
    id: 'b',
    name: 'B',
    version: 1,
    session_start: () => go({ heard: [] }, say('Hi.').listen()),
    // The cast joins a test's own results, of any state, to this bot.
    dtmf_input: (state, { digits }, { signal }) =>
      digits === '1'
        ? (misdeed(signal) as unknown as ReturnType<typeof go<typeof state>>)
        : go({ heard: [...state.heard, digits] }, say(`Key ${digits}.`).listen()),
    speech_input: (state, { text }) => go({ heard: [...state.heard, text ?? 'nothing'] }, say(`Heard ${text ?? 'nothing'}.`).listen()),
    otherwise: (state) => go(state, say('What?').listen()),
  });
}

const plain = botWith(() => go({ heard: [] }, say('One.').listen()));

describe('an interrupted turn', () => {
  it('G-53 completes at once when its client does not read, and the next input is answered', async () => {
    const { sessions, clock } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const blocked = await call.open();
    blocked.sink.isFull = true;
    blocked.turn.push({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    const next = await call.press('2');
    expect(blocked.sink.end).toBe('complete');
    expect(next.texts).toEqual(['Key 2.']);
  });

  it('frees the queue at once when it is cancelled while its client does not read', async () => {
    const { sessions, clock, log } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const blocked = await call.open();
    blocked.sink.isFull = true;
    blocked.turn.push({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    blocked.turn.abort('hang_up');
    expect((await call.press('2')).texts).toEqual(['Key 2.']);
    expect(log.lines.map((line) => line.message).join()).not.toContain('did not read');
  });

  it('does not wait for a sound that nobody wants any more', async () => {
    class SlowVoice extends FakeVoice {
      override render(prompt: Parameters<FakeVoice['render']>[0]): ReturnType<FakeVoice['render']> {
        return prompt.kind === 'text' && prompt.text === 'One.' ? new Promise(() => undefined) : super.render(prompt);
      }
    }
    const { sessions, clock } = await testEngine([plain], { voice: new SlowVoice() });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const slow = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect((await call.press('2')).texts).toEqual(['Key 2.']);
    expect(slow.sink.kinds).toEqual(['final']);
  });

  it('waits a moment, not a deadline, for a bot that ignores its signal', async () => {
    const { sessions, clock, seen } = await testEngine([botWith(() => new Promise(() => undefined))]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const stuck = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    const next = await call.open({ kind: 'dtmf', digits: '2' });
    await clock.advanceAsync(300);
    await next.sink.ended();
    expect(next.sink.texts).toEqual(['Key 2.']);
    expect(stuck.sink.kinds).toEqual(['final']);
    expect(seen).toContain('turn_ended interrupted');
    expect(seen.some((event) => event.startsWith('bot_failed'))).toBe(false);
  });

  it.each<[string, (signal: AbortSignal) => unknown]>([
    ['throws the reason of its signal, as fetch does', ({ reason }) => Promise.reject(reason as Error)],
    ['throws any AbortError', () => Promise.reject(new DOMException('stopped', 'AbortError'))],
    ['throws something else', () => Promise.reject(new TypeError('no such tool'))],
    ['returns nothing', () => undefined],
  ])('counts no failure of a bot that %s once it was told to stop, also not twice in a row', async (_how, stop) => {
    const obedient = botWith(
      (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            resolve(stop(signal) as ReturnType<typeof go<null>>);
          });
        }),
    );
    const { sessions, clock, seen } = await testEngine([obedient]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const cut = [await call.open({ kind: 'dtmf', digits: '1' })];
    await flushMicrotasks();
    cut.push(await call.open({ kind: 'dtmf', digits: '1' }));
    await flushMicrotasks();
    expect(await call.press('2')).toMatchObject({ texts: ['Key 2.'], next: { kind: 'listen' } });
    expect(cut.map(({ sink }) => [sink.end, sink.next?.kind])).toEqual([
      ['complete', 'listen'],
      ['complete', 'listen'],
    ]);
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toEqual([]);
  });

  it('counts no failure of a bot whose deadline passes after it was aborted', async () => {
    const { sessions, clock, seen } = await testEngine([botWith(() => new Promise(() => undefined))]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(TEST_SETTINGS.turnDeadlineMs - 1);
    const next = await call.open({ kind: 'dtmf', digits: '2' });
    await clock.advanceAsync(1);
    await next.sink.ended();
    expect(next.sink.texts).toEqual(['Key 2.']);
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toEqual([]);
  });

  it('lets the recognizer finish, so that what was said reaches the bot', async () => {
    let answer: (text: string) => void = () => undefined;
    const { sessions, clock } = await testEngine([plain], {
      recognizer: {
        recognize: (_utterance, signal) =>
          new Promise((resolve) => {
            answer = resolve;
            signal.addEventListener('abort', () => {
              resolve(undefined);
            });
          }),
      },
    });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const said = await call.open(audio(SPEECH), audio(SILENCE));
    await flushMicrotasks();
    const next = await call.open({ kind: 'dtmf', digits: '2' });
    answer('my address');
    await next.sink.ended();
    expect(said.sink.kinds).toEqual(['input_started', 'input_ended', 'final']);
    expect((await snapshotOf({ sessions }))?.state).toEqual({ heard: ['my address', '2'] });
  });

  it("ends an abandoned generator and runs its finally block, and keeps an obedient one's state", async () => {
    let isCleaned = false;
    let go1: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      go1 = resolve;
    });
    const { sessions, clock } = await testEngine([
      botWith(async function* () {
        try {
          yield say('Part one.');
          await gate;
          yield say('Part two.');
          return go({ heard: ['kept'] }, say('End.').listen());
        } finally {
          isCleaned = true;
        }
      }),
    ]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const talking = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    const next = await call.open({ kind: 'dtmf', digits: '2' });
    go1();
    await next.sink.ended();
    expect(talking.sink.texts).toEqual(['Part one.']);
    expect(isCleaned).toBe(true);
    expect((await snapshotOf({ sessions }))?.state).toEqual({ heard: ['kept', '2'] });
  });

  it('reports no barge-in, and nothing heard, over a welcome that has not begun', async () => {
    class LateVoice extends FakeVoice {
      override render(prompt: Parameters<FakeVoice['render']>[0]): ReturnType<FakeVoice['render']> {
        return prompt.kind === 'text' && prompt.text === 'Hi.' ? Promise.resolve(super.render(prompt)) : super.render(prompt);
      }
    }
    const { sessions, seen } = await testEngine([plain], { voice: new LateVoice() });
    const call = new MemoryCall(sessions);
    const welcome = await call.open({ kind: 'session_start', name: '', parameters: {} });
    const key = await call.press('2');
    expect(welcome.sink.texts).toEqual(['Hi.']);
    expect(key.texts).toEqual(['Key 2.']);
    expect(seen).not.toContain('barge_in');
  });
});

describe('the audio listener', () => {
  it('G-13 ends what the older turn heard when the newer one takes over', async () => {
    const { sessions, clock } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const older = await call.open(audio(SPEECH.subarray(0, 8000)));
    const newer = await call.open(audio(SILENCE.subarray(0, 160)));
    older.turn.halfClose();
    newer.turn.halfClose();
    await Promise.all([older.sink.ended(), newer.sink.ended()]);
    expect(older.sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
    expect(newer.sink.kinds).toEqual([]);
  });

  it('hears the newer turn although an older stream goes on sending silence', async () => {
    const { sessions, clock } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const older = await call.open(audio(SILENCE.subarray(0, 160)));
    const newer = await call.open();
    for (let from = 0; from < SPEECH.length; from += 160) {
      newer.turn.push(audio(SPEECH.subarray(from, from + 160)));
      older.turn.push(audio(SILENCE.subarray(0, 160)));
    }
    newer.turn.push(audio(SILENCE));
    await newer.sink.ended();
    expect(newer.sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
  });

  it('G-50 hears the newest stream that is left when a newer one was cancelled', async () => {
    const { sessions, clock } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const oldest = await call.open(audio(SILENCE.subarray(0, 160)));
    const middle = await call.open(audio(SILENCE.subarray(0, 160)));
    const newest = await call.open(audio(SILENCE.subarray(0, 160)));
    newest.turn.abort('hang_up');
    for (let from = 0; from < SPEECH.length; from += 160) {
      oldest.turn.push(audio(SPEECH.subarray(from, from + 160)));
      middle.turn.push(audio(SPEECH.subarray(from, from + 160)));
    }
    middle.turn.push(audio(SILENCE));
    await middle.sink.ended();
    expect(middle.sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
    expect(oldest.sink.kinds).toEqual([]);
  });

  it('G-37 does not hear the caller in the gap between two prompts that may not be cut', async () => {
    let speak: (audio: PromptAudio | undefined) => void = () => undefined;
    class GapVoice extends FakeVoice {
      override render(prompt: Parameters<FakeVoice['render']>[0]): ReturnType<FakeVoice['render']> {
        if (prompt.kind !== 'text' || prompt.text !== 'Second.') return super.render(prompt);
        return new Promise((resolve) => {
          speak = resolve;
        });
      }
    }
    const { sessions, clock } = await testEngine(
      [botWith(() => go({ heard: [] }, say('First.', { bargeIn: false }).say('Second.', { bargeIn: false }).listen()))],
      { voice: new GapVoice() },
    );
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const speaking = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    clock.advance(LONG_MS);
    const newer = await call.open(audio(SPEECH));
    speak({ mulaw: new Uint8Array(800), durationMs: 100 });
    await speaking.sink.ended();
    expect(speaking.sink.texts).toEqual(['First.', 'Second.']);
    expect(newer.sink.kinds).toEqual([]);
  });
});
