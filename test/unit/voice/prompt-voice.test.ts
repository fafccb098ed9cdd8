import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { PromptAudio } from '../../../src/dialog/output.ts';
import type { Prompt } from '../../../src/dialog/reply.ts';
import type { Sound } from '../../../src/session/ports.ts';
import type { CreateResampler } from '../../../src/speech/resample.ts';
import { mulawWav } from '../../../src/speech/wav.ts';
import { PromptCache } from '../../../src/voice/prompt-cache.ts';
import { PromptFiles } from '../../../src/voice/prompt-files.ts';
import { CachingPromptVoice, openPromptVoice } from '../../../src/voice/prompt-voice.ts';
import type { VoiceObserver } from '../../../src/voice/voice-observer.ts';
import { recordingLog } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeSynthesizer, never, realResampler, temporaryFolder } from '../../support/voice.ts';

let createResampler: CreateResampler;
beforeAll(async () => {
  createResampler = await realResampler();
});

const text = (words: string): Prompt => ({ kind: 'text', text: words, bargeIn: true });
const file = (name: string): Prompt => ({ kind: 'file', file: name, bargeIn: true });

interface Surroundings {
  readonly voice: CachingPromptVoice;
  readonly synthesizer: FakeSynthesizer;
  readonly clock: FakeClock;
  readonly log: ReturnType<typeof recordingLog>;
  readonly folder: string;
}

function open(observer?: VoiceObserver): Surroundings {
  const synthesizer = new FakeSynthesizer();
  const clock = new FakeClock();
  const log = recordingLog();
  const folder = temporaryFolder();
  const cache = new PromptCache({ soundName: () => 'fake', synthesizer, disk: undefined, clock, log });
  const files = new PromptFiles({ folder, createResampler, clock });
  const voice = new CachingPromptVoice({ cache, files, synthesizer, clock, log, ...(observer === undefined ? {} : { observer }) });
  return { voice, synthesizer, clock, log, folder };
}

function iteratorOf(sound: Sound | Promise<Sound>): AsyncIterator<PromptAudio> {
  if (sound === undefined || !(Symbol.asyncIterator in sound)) throw new Error('the sound does not come in pieces');
  return sound[Symbol.asyncIterator]();
}

/** Lengths of the pieces, ms. */
async function piecesOf(sound: Sound | Promise<Sound>): Promise<number[]> {
  const pieces = iteratorOf(sound);
  const lengths: number[] = [];
  for (let piece = await pieces.next(); piece.done !== true; piece = await pieces.next()) lengths.push(piece.value.durationMs);
  return lengths;
}

const warnings = ({ log }: Surroundings): string[] => log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);

describe('CachingPromptVoice', () => {
  it('renders every kind of prompt, and each again without a promise', async () => {
    const { voice, folder } = open();
    writeFileSync(join(folder, 'a.wav'), mulawWav(new Uint8Array(1600)));
    const prompts: Prompt[] = [text('hello'), file('a.wav'), { kind: 'audio', mulaw: new Uint8Array(2400), bargeIn: false }];
    const sounds = await Promise.all(prompts.map(async (prompt) => voice.render(prompt, never())));
    expect(sounds).toMatchObject([{ durationMs: 100 }, { durationMs: 200 }, { durationMs: 300 }]);
    expect(prompts.map((prompt) => voice.render(prompt, never()))).toEqual(sounds);
    expect(voice.render(prompts[2] ?? text(''), never())).toBe(sounds[2]);
    expect(voice.canSpeak).toBe(true);
  });

  it('has no sound for audio without bytes', () => {
    expect(open().voice.render({ kind: 'audio', mulaw: new Uint8Array(0), bargeIn: true }, never())).toBeUndefined();
  });

  it('never throws: a failure is counted each time and logged once a minute per cause, without the text', async () => {
    const seen: string[] = [];
    const surroundings = open({ promptFailed: (kind, code) => seen.push(`${kind} ${code}`) });
    const { voice, synthesizer, clock, log } = surroundings;
    synthesizer.isBroken = true;
    for (let time = 0; time < 3; time += 1) {
      expect(await voice.render(text(`the canary ${String(time)}`), never())).toBeUndefined();
      expect(await voice.render(file('missing.wav'), never())).toBeUndefined();
    }
    expect(seen).toEqual(Array.from({ length: 3 }, () => ['text synthesis_failed', 'file prompt_unusable']).flat());
    expect(warnings(surroundings)).toEqual([
      'a prompt has no sound: the fake is broken',
      'a prompt has no sound: the prompt file "missing.wav" does not exist',
    ]);
    clock.advance(60_000);
    await voice.render(text('the canary'), never());
    expect(log.lines.filter(({ level }) => level === 'warn').at(-1)).toMatchObject({ kind: 'text', unsaid: 2 });
    expect(JSON.stringify(log.lines)).not.toContain('canary');
  });

  it('counts and logs a sound that was not waited for like any failure', () => {
    const seen: string[] = [];
    const surroundings = open({ promptFailed: (kind, code) => seen.push(`${kind} ${code}`) });
    for (const prompt of [text('the canary'), text('another'), file('47.wav')]) surroundings.voice.late(prompt);
    expect(seen).toEqual(['text synthesis_failed', 'text synthesis_failed', 'file prompt_unusable']);
    expect(warnings(surroundings)).toEqual([
      'a prompt has no sound: the synthesizer took too long for a waiting caller',
      'a prompt has no sound: a recording was not read in time',
    ]);
    expect(JSON.stringify(surroundings.log.lines)).not.toMatch(/canary|47/u);
  });

  it('survives an observer that throws', async () => {
    const surroundings = open({
      promptFailed: () => {
        throw new Error('broken watcher');
      },
    });
    expect(await surroundings.voice.render(file('missing.wav'), never())).toBeUndefined();
    expect(warnings(surroundings)).toHaveLength(1);
  });

  it('takes an abort for no failure', async () => {
    const surroundings = open();
    const leaving = new AbortController();
    surroundings.synthesizer.hold();
    const left = surroundings.voice.render(text('hello'), leaving.signal);
    leaving.abort('hang_up');
    expect(await left).toBeUndefined();
    expect(warnings(surroundings)).toEqual([]);
  });

  it('gives a text in pieces where the synthesizer can, and whole once it is known', async () => {
    const { voice, synthesizer } = open();
    synthesizer.pieces = [160, 320];
    expect(await piecesOf(voice.render(text('hello'), never()))).toEqual([20, 40]);
    expect(voice.render(text('hello'), never())).toMatchObject({ durationMs: 100 });
    expect(await voice.warm([{ text: 'hello' }, { text: 'goodbye' }], never())).toEqual({ spoken: 2, silent: [] });
    expect(voice.render(text('goodbye'), never())).toMatchObject({ durationMs: 100 });
  });

  it('ends the pieces of a text that breaks off, and counts and logs it like any failure', async () => {
    const seen: string[] = [];
    const surroundings = open({ promptFailed: (kind, code) => seen.push(`${kind} ${code}`) });
    surroundings.synthesizer.pieces = [160, 320];
    surroundings.synthesizer.isBroken = true;
    const pieces = iteratorOf(surroundings.voice.render(text('the canary'), never()));
    expect([await pieces.next(), await pieces.next()]).toMatchObject([{ value: { durationMs: 20 } }, { value: { durationMs: 40 } }]);
    await expect(pieces.next()).rejects.toMatchObject({ code: 'synthesis_failed' });
    expect(seen).toEqual(['text synthesis_failed']);
    expect(warnings(surroundings)).toEqual(['a prompt has no sound: the fake is broken']);
  });

  it('takes leaving a text in the middle for no failure', async () => {
    const surroundings = open();
    surroundings.synthesizer.pieces = [160];
    surroundings.synthesizer.hold();
    const leaving = new AbortController();
    for (const leave of ['return', 'abort'] as const) {
      const pieces = iteratorOf(surroundings.voice.render(text(leave), leaving.signal));
      await pieces.next();
      const waiting = pieces.next();
      if (leave === 'abort') leaving.abort('barge_in');
      else await pieces.return?.();
      expect((await waiting).done).toBe(true);
    }
    surroundings.synthesizer.release();
    expect(surroundings.synthesizer.abandoned).toEqual(['return', 'abort']);
    expect(warnings(surroundings)).toEqual([]);
  });

  it('warms up static texts once each and names those without sound by their first words', async () => {
    const { voice, synthesizer } = open();
    expect(await voice.warm([{ text: 'one' }, { text: 'two' }, { text: 'one' }], never())).toEqual({ spoken: 2, silent: [] });
    expect(synthesizer.asked).toEqual(['one', 'two']);
    synthesizer.isBroken = true;
    const long = 'three is a text that is too long to be shown as a whole';
    expect(await voice.warm([{ text: 'one' }, { text: long }], never())).toEqual({
      spoken: 1,
      silent: ['three is a text that is too long to be s…'],
    });
  });

  it('stops warming up when its signal aborts', async () => {
    const { voice, synthesizer } = open();
    synthesizer.hold();
    const stop = new AbortController();
    const warming = voice.warm([{ text: 'one' }, { text: 'two' }], stop.signal);
    stop.abort('shutdown');
    expect(await warming).toEqual({ spoken: 0, silent: ['one', 'two'] });
    expect(synthesizer.asked).toEqual(['one']);
  });

  it('closes its synthesizer', async () => {
    const { voice, synthesizer } = open();
    await voice.close();
    expect(synthesizer.isClosed).toBe(true);
  });
});

describe('openPromptVoice', { timeout: 120_000 }, () => {
  const settings = (cacheFolder: string | undefined, engine: 'flite' | 'none' = 'flite'): Parameters<typeof openPromptVoice>[0] => ({
    synthesizer: engine === 'none' ? { engine } : { engine, voice: 'kal', timeoutMs: 10_000 },
    ...{ cacheFolder, cacheMaxBytes: 10_000_000 },
    promptsFolder: join(import.meta.dirname, '../../../bots/prompts'),
  });

  it('speaks with the embedded synthesizer and keeps announced prompts for a start in which it must not be woken', async () => {
    const cacheFolder = join(temporaryFolder(), 'cache');
    const log = recordingLog();
    const first = openPromptVoice(settings(cacheFolder), { clock: systemClock, log, createResampler });
    onTestFinished(() => first.close());
    expect(await first.warm([{ text: 'Welcome.' }, { text: 'Goodbye.' }], never())).toEqual({ spoken: 2, silent: [] });
    const secret = await first.render(text('You entered 4 7 1 1.'), never());
    expect(secret !== undefined && 'mulaw' in secret && secret.durationMs > 1000).toBe(true);
    await first.close();
    expect(readdirSync(cacheFolder)).toHaveLength(2);
    const second = openPromptVoice(settings(cacheFolder), { clock: systemClock, log, createResampler });
    onTestFinished(() => second.close());
    await second.warm([{ text: 'Goodbye.' }, { text: 'Welcome.' }], never());
    // A closed synthesizer fails every text: what is still there came from disk.
    await second.close();
    expect(second.render(text('Welcome.'), never())).toEqual(await first.render(text('Welcome.'), never()));
    const spoken = log.lines.filter(({ message }) => message === 'synthesized a prompt');
    expect(spoken).toHaveLength(3);
    // G-68: the hash of a text that reads digits back would give the digits away.
    expect(spoken.filter((line) => 'key' in line || 'chars' in line)).toHaveLength(2);
  });

  it('starts without a synthesizer, says which texts have no sound, and still plays recordings', async () => {
    const log = recordingLog();
    const voice = openPromptVoice(settings(undefined, 'none'), { clock: systemClock, log, createResampler });
    expect(voice.canSpeak).toBe(false);
    expect(await voice.warm([{ text: 'Welcome.' }, { text: 'Goodbye.' }], never())).toEqual({
      spoken: 0,
      silent: ['Welcome.', 'Goodbye.'],
    });
    expect(voice.render(text('Welcome.'), never())).toBeUndefined();
    expect(await voice.render(file('chime.wav'), never())).toMatchObject({ durationMs: 400 });
    expect(log.lines).toEqual([]);
    await voice.close();
  });
});
