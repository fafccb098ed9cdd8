import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PromptAudio } from '../../../src/dialog/output.ts';
import { decodeMulaw } from '../../../src/speech/g711.ts';
import type { CreateResampler } from '../../../src/speech/resample.ts';
import { mulawWav, pcmWav } from '../../../src/speech/wav.ts';
import { PromptFiles } from '../../../src/voice/prompt-files.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';
import { realResampler, temporaryFolder, turnsDuring } from '../../support/voice.ts';

let createResampler: CreateResampler;
beforeAll(async () => {
  createResampler = await realResampler();
});

function open(limits: { maxDurationMs?: number; maxFileBytes?: number } = {}): { folder: string; files: PromptFiles; clock: FakeClock } {
  const folder = join(temporaryFolder(), 'prompts');
  mkdirSync(folder);
  const clock = new FakeClock();
  return { folder, files: new PromptFiles({ folder, createResampler, clock, ...limits }), clock };
}

const tone = (ms: number, rateHz: number, hz: number): Int16Array =>
  Int16Array.from({ length: (ms * rateHz) / 1000 }, (_, index) => Math.round(12_000 * Math.sin((2 * Math.PI * hz * index) / rateHz)));

/** Crossings of zero upwards per second. */
function pitchOf({ mulaw }: PromptAudio): number {
  const samples = decodeMulaw(mulaw);
  let crossings = 0;
  for (let index = 1; index < samples.length; index += 1) if ((samples[index - 1] ?? 0) < 0 && (samples[index] ?? 0) >= 0) crossings += 1;
  return crossings / (samples.length / 8000);
}

async function reasonOf(files: PromptFiles, file: string): Promise<string> {
  try {
    await files.render(file);
  } catch (thrown) {
    if (thrown instanceof Error && Reflect.get(thrown, 'code') === 'prompt_unusable') return thrown.message;
    throw thrown;
  }
  return 'it was taken';
}

describe('PromptFiles', () => {
  it.each([8000, 11_025, 16_000, 22_050, 44_100, 48_000])(
    'brings a recording at %i Hz to the line, at its length and pitch',
    async (rateHz) => {
      const { folder, files } = open();
      writeFileSync(join(folder, 'tone.wav'), pcmWav([tone(3000, rateHz, 440)], rateHz));
      const audio = await files.render('tone.wav');
      expect(audio.durationMs).toBeCloseTo(3000, 0);
      expect(pitchOf(audio)).toBeGreaterThan(437);
      expect(pitchOf(audio)).toBeLessThan(443);
    },
  );

  it('passes a recording that is ready for the line through byte by byte', async () => {
    const { folder, files } = open();
    const mulaw = Uint8Array.from({ length: 801 }, (_, index) => (index * 7) % 127);
    writeFileSync(join(folder, 'ready.wav'), mulawWav(mulaw));
    expect((await files.render('ready.wav')).mulaw).toEqual(mulaw);
  });

  it('plays the recording that comes with the bundled bots', async () => {
    const files = new PromptFiles({ folder: join(import.meta.dirname, '../../../bots/prompts'), createResampler, clock: new FakeClock() });
    const chime = await files.render('chime.wav');
    expect(chime.durationMs).toBe(400);
    expect(Math.max(...decodeMulaw(chime.mulaw))).toBeGreaterThan(8000);
  });

  it('loads a file once, also for many at a time, and then gives the same audio at once', async () => {
    const { folder, files } = open();
    mkdirSync(join(folder, 'deep'));
    writeFileSync(join(folder, 'deep', 'a.wav'), mulawWav(new Uint8Array(800)));
    const [first, second] = await Promise.all([files.render('deep/a.wav'), files.render('deep/a.wav')]);
    expect(first).toBe(second);
    expect(files.render('deep/a.wav')).toBe(first);
  });

  it('plays a file in its new form once it has noticed the change', async () => {
    const { folder, files, clock } = open();
    const path = join(folder, 'a.wav');
    writeFileSync(path, mulawWav(new Uint8Array(800)));
    const first = await files.render('a.wav');
    writeFileSync(path, mulawWav(new Uint8Array(1600)));
    utimesSync(path, 5000, 5000);
    clock.advance(1999);
    expect(files.render('a.wav')).toBe(first);
    clock.advance(1);
    // The check goes on behind the back of the call, which still gets what is there.
    expect(files.render('a.wav')).toBe(first);
    while (files.render('a.wav') === first) await flushMicrotasks();
    expect(files.render('a.wav')).toMatchObject({ durationMs: 200 });
    rmSync(path);
    clock.advance(2000);
    while ((await reasonOf(files, 'a.wav')) === 'it was taken') await flushMicrotasks();
    expect(await reasonOf(files, 'a.wav')).toContain('does not exist');
  });

  it('keeps the audio it has when a look shows that nothing has changed', async () => {
    const { folder, files, clock } = open();
    writeFileSync(join(folder, 'a.wav'), mulawWav(new Uint8Array(800)));
    writeFileSync(join(folder, 'b.wav'), mulawWav(new Uint8Array(800)));
    const first = await files.render('a.wav');
    clock.advance(2000);
    expect(files.render('a.wav')).toBe(first);
    // A whole file read behind it: the look at the first one has long been answered.
    await files.render('b.wav');
    expect(files.render('a.wav')).toBe(first);
  });

  it('takes a file that appears after it was missed, without looking on every call', async () => {
    const { folder, files, clock } = open();
    expect(await reasonOf(files, 'a.wav')).toContain('"a.wav" does not exist');
    writeFileSync(join(folder, 'a.wav'), mulawWav(new Uint8Array(800)));
    expect(await reasonOf(files, 'a.wav')).toContain('does not exist');
    clock.advance(2000);
    expect(await reasonOf(files, 'a.wav')).toBe('it was taken');
  });

  it.each([
    '../outside.wav',
    'deep/../../outside.wav',
    '/etc/passwd',
    './a.wav',
    'deep//a.wav',
    '',
    '.',
    '..',
    'a\\..\\b.wav',
    'a\0.wav',
    'a.wav/',
  ])('refuses the path %j', async (file) => {
    const { folder, files } = open();
    writeFileSync(join(folder, '..', 'outside.wav'), mulawWav(new Uint8Array(800)));
    writeFileSync(join(folder, 'a.wav'), mulawWav(new Uint8Array(800)));
    expect(await reasonOf(files, file)).toContain('is not a path below the prompts folder');
  });

  it('follows a link inside the folder and none that leads out of it', async () => {
    const { folder, files } = open();
    writeFileSync(join(folder, 'a.wav'), mulawWav(new Uint8Array(800)));
    writeFileSync(join(folder, '..', 'outside.wav'), mulawWav(new Uint8Array(800)));
    mkdirSync(`${folder}-beside`);
    writeFileSync(join(`${folder}-beside`, 'b.wav'), mulawWav(new Uint8Array(800)));
    symlinkSync('a.wav', join(folder, 'inside.wav'));
    symlinkSync('../outside.wav', join(folder, 'out.wav'));
    symlinkSync('..', join(folder, 'up'));
    symlinkSync(`${folder}-beside`, join(folder, 'beside'));
    expect(await reasonOf(files, 'inside.wav')).toBe('it was taken');
    for (const file of ['out.wav', 'up/outside.wav', 'beside/b.wav']) expect(await reasonOf(files, file)).toContain('leads out of');
  });

  it('names the file and the reason when a recording cannot be used', async () => {
    const { folder, files } = open({ maxDurationMs: 1000, maxFileBytes: 20_000 });
    writeFileSync(join(folder, 'text.wav'), 'hello');
    writeFileSync(join(folder, 'empty.wav'), mulawWav(new Uint8Array(0)));
    writeFileSync(join(folder, 'long.wav'), mulawWav(new Uint8Array(8001)));
    writeFileSync(join(folder, 'large.wav'), new Uint8Array(20_001));
    writeFileSync(join(folder, 'slow.wav'), pcmWav([new Int16Array(1000)], 2000));
    mkdirSync(join(folder, 'folder.wav'));
    execFileSync('mkfifo', [join(folder, 'pipe.wav')]);
    expect(await reasonOf(files, 'text.wav')).toMatch(/^the prompt file "text.wav" is not usable: .*RIFF/);
    expect(await reasonOf(files, 'empty.wav')).toContain('contains no audio');
    expect(await reasonOf(files, 'long.wav')).toContain('longer than 1000 ms');
    expect(await reasonOf(files, 'large.wav')).toContain('larger than 20000 bytes');
    expect(await reasonOf(files, 'slow.wav')).toContain('2000 Hz');
    expect(await reasonOf(files, 'folder.wav')).toContain('is not a file');
    expect(await reasonOf(files, 'pipe.wav')).toContain('is not a file');
  });

  it('G-68 names no digit of a file: a bot may choose it by what the caller typed', async () => {
    const { folder, files } = open();
    mkdirSync(join(folder, 'numbers'));
    writeFileSync(join(folder, 'numbers', '4917.wav'), 'hello');
    expect(await reasonOf(files, 'numbers/4917.wav')).toMatch(/^the prompt file "numbers\/####.wav" is not usable/);
    expect(await reasonOf(files, 'numbers/\u0664\u0669.wav')).toBe('the prompt file "numbers/##.wav" does not exist');
  });

  it('serves others while a long recording is being brought to the line', async () => {
    const { folder, files } = open();
    writeFileSync(join(folder, 'long.wav'), pcmWav([tone(60_000, 16_000, 440)], 16_000));
    expect(await turnsDuring(files.render('long.wav'))).toBeGreaterThan(55);
  });
});
