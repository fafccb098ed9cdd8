import { beforeAll, describe, expect, it } from 'vitest';
import type { CreateResampler } from '../../../../src/speech/resample.ts';
import {
  findSynthesizer,
  soundNames,
  type SynthesizerChoice,
  type SynthesizerParts,
} from '../../../../src/voice/synthesizers/find-synthesizer.ts';
import type { VoiceChoice } from '../../../../src/dialog/reply.ts';
import { FliteSynthesizer } from '../../../../src/voice/synthesizers/flite.ts';
import { HttpSynthesizer } from '../../../../src/voice/synthesizers/http.ts';
import { recordingLog } from '../../../support/engine.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { realResampler } from '../../../support/voice.ts';

let createResampler: CreateResampler;

beforeAll(async () => {
  createResampler = await realResampler();
});

const parts = (): SynthesizerParts => ({ clock: new FakeClock(), log: recordingLog(), createResampler });
const flite: SynthesizerChoice = { engine: 'flite', voice: 'awb', timeoutMs: 1000 };
const http: SynthesizerChoice & { engine: 'http' } = {
  ...{ engine: 'http', url: 'https://speech.example.com/v1', key: 'KEY', model: 'm', voice: 'v' },
  ...{ format: 'pcm', rateHz: 24_000, speedPercent: 100, firstByteMs: 1, timeoutMs: 1 },
};

describe('findSynthesizer', () => {
  it('finds nothing when nothing is wanted', () => {
    expect(findSynthesizer({ engine: 'none' }, parts())).toBeUndefined();
    expect(soundNames({ engine: 'none' })).toBeUndefined();
  });

  it('finds the embedded synthesizer and starts no thread for it', () => {
    const found = findSynthesizer(flite, parts());
    expect(soundNames(flite)?.({ text: 'x' })).toMatch(/^flite-awb-/u);
    expect(found instanceof FliteSynthesizer && found.isAwake).toBe(false);
  });

  it('finds a service', async () => {
    const found = findSynthesizer(http, parts());
    expect(found).toBeInstanceOf(HttpSynthesizer);
    expect(soundNames(http)?.({ text: 'x' })).toMatch(/^http-/u);
    await found?.close();
  });

  it('refuses a service whose address others could listen to', () => {
    expect(() => findSynthesizer({ ...http, url: 'http://speech.example.com' }, parts())).toThrow(
      expect.objectContaining({ code: 'config_invalid' }) as Error,
    );
  });
});

describe('soundNames', () => {
  const nameOf = (choice: SynthesizerChoice, speech: VoiceChoice = {}): string | undefined =>
    soundNames(choice)?.({ text: 'x', ...speech });

  it('changes with everything that changes the sound of a service, and not with its key or its time', () => {
    const changes: Partial<typeof http>[] = [
      { url: 'https://other.example.com' },
      { model: 'n' },
      { voice: 'w' },
      { voice: undefined },
      { format: 'wav' },
      { rateHz: 16_000 },
      { speedPercent: 90 },
    ];
    const names = [http, ...changes.map((change) => ({ ...http, ...change }))].map((choice) => nameOf(choice));
    expect(new Set(names).size).toBe(names.length);
    expect(nameOf({ ...http, key: 'OTHER', timeoutMs: 2, firstByteMs: 2 })).toBe(nameOf(http));
    expect(names.join(' ')).not.toContain('speech.example.com');
  });

  it('changes with the voice of a text, its own or the one for its language, and with its SSML where that is spoken', () => {
    const voices = new Map([['es', 'lola']]);
    const names = [{}, { voice: 'w' }, { language: 'es-MX' }].map((speech) => nameOf({ ...http, voices }, speech));
    expect(new Set(names).size).toBe(names.length);
    expect(nameOf({ ...http, voices }, { voice: 'w', language: 'es' })).toBe(names[1]);
    expect(nameOf({ ...http, voices }, { language: 'de' })).toBe(names[0]);
    const tagged = { text: 'x', ssml: '<speak>x</speak>' };
    expect([soundNames(http)?.(tagged), soundNames({ ...http, ssml: true })?.(tagged)]).toEqual([
      nameOf(http),
      expect.not.stringMatching(nameOf(http) ?? ''),
    ]);
  });

  it('knows of the embedded synthesizer only its own voices', () => {
    expect([{}, { voice: 'kal' }, { voice: 'nova' }].map((speech) => nameOf(flite, speech))).toEqual([
      'flite-awb-2',
      'flite-kal-2',
      'flite-awb-2',
    ]);
  });
});
