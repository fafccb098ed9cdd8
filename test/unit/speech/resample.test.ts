import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadSignalModules } from '../../../src/app/signal-engines.ts';
import { resampleAll, resamplerMaker, type CreateResampler, type SpeexModule } from '../../../src/speech/resample.ts';

let module: SpeexModule;
let createResampler: CreateResampler;

beforeAll(async () => {
  module = (await loadSignalModules()).speex;
  createResampler = resamplerMaker(module);
});

const tone = (hertz: number, rateHz: number, samples: number): Int16Array =>
  Int16Array.from({ length: samples }, (_, index) => Math.round(16_000 * Math.sin((2 * Math.PI * hertz * index) / rateHz)));

/** The largest difference between two signals, their edges aside. */
function largestError(one: Int16Array, two: Int16Array): number {
  const edge = Math.floor(one.length / 20);
  return one.subarray(edge, -edge).reduce((worst, sample, index) => Math.max(worst, Math.abs(sample - (two[index + edge] ?? 0))), 0);
}

describe('a whole piece of audio', () => {
  it.each([
    [16_000, 8000],
    [48_000, 8000],
    [44_100, 8000],
    [22_050, 8000],
    [8000, 16_000],
    [8000, 48_000],
  ])('keeps a tone of 1 kHz in place from %d to %d Hz', (fromHz, toHz) => {
    const resampled = resampleAll(createResampler, tone(1000, fromHz, fromHz), fromHz, toHz);
    expect(resampled.length).toBe(toHz);
    expect(largestError(resampled, tone(1000, toHz, toHz))).toBeLessThanOrEqual(2);
  });

  it('leaves nothing of a tone that 8 kHz cannot carry', () => {
    const resampled = resampleAll(createResampler, tone(5000, 16_000, 16_000), 16_000, 8000);
    expect(largestError(resampled, new Int16Array(8000))).toBeLessThanOrEqual(1);
  });

  it('has the length that the rates ask for', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3000 }), fc.constantFrom(8000, 11_025, 16_000, 24_000), (length, fromHz) => {
        const resampled = resampleAll(createResampler, new Int16Array(length), fromHz, 8000);
        expect(resampled.length).toBe(Math.round((length * 8000) / fromHz));
      }),
    );
  });

  it('is returned unchanged when the rates are the same', () => {
    const samples = Int16Array.of(1, 2, 3);
    expect(resampleAll(createResampler, samples, 8000, 8000)).toBe(samples);
  });
});

describe('a stream', () => {
  it('comes out the same however it is cut', () => {
    const samples = tone(700, 16_000, 8000).map((sample, index) => sample + ((index * 7919) % 2000));
    const whole = resampleAll(createResampler, samples, 16_000, 8000);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 20 }), (sizes) => {
        const resampler = createResampler(16_000, 8000);
        const out: number[] = [];
        let from = 0;
        for (const size of sizes) {
          out.push(...resampler.push(samples.subarray(from, from + size)));
          from = Math.min(samples.length, from + size);
        }
        out.push(...resampler.push(samples.subarray(from)), ...resampler.flush());
        resampler.close();
        expect(Int16Array.from(out)).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  it('begins anew after a flush', () => {
    const resampler = createResampler(16_000, 8000);
    const samples = tone(500, 16_000, 1600);
    const once = (): number[] => [...resampler.push(samples), ...resampler.flush()];
    const first = once();
    expect(first.length).toBe(800);
    expect(once()).toEqual(first);
    resampler.close();
  });

  it('does not mix with another one', () => {
    const samples = tone(500, 16_000, 3200);
    const alone = resampleAll(createResampler, samples, 16_000, 8000);
    const [one, two] = [createResampler(16_000, 8000), createResampler(8000, 16_000)];
    const out: number[] = [];
    for (let from = 0; from < samples.length; from += 320) {
      out.push(...one.push(samples.subarray(from, from + 320)));
      two.push(tone(900, 8000, 160));
    }
    out.push(...one.flush());
    expect(Int16Array.from(out)).toEqual(alone);
    one.close();
    two.close();
  });

  it('gives nothing once it is closed, and may be closed twice', () => {
    const resampler = createResampler(16_000, 8000);
    resampler.close();
    resampler.close();
    expect(resampler.push(tone(500, 16_000, 320)).length).toBe(0);
    expect(resampler.flush().length).toBe(0);
  });
});

describe('the memory of the module', () => {
  it('stays flat over 10,000 resamplers', () => {
    createResampler(16_000, 8000).close();
    const bytes = module.HEAP16.byteLength;
    for (let round = 0; round < 10_000; round += 1) {
      const resampler = createResampler(16_000, 8000);
      resampler.push(new Int16Array(32));
      resampler.close();
    }
    expect(module.HEAP16.byteLength).toBe(bytes);
  });

  it('may grow under an open resampler', () => {
    const samples = tone(500, 16_000, 3200);
    const whole = resampleAll(createResampler, samples, 16_000, 8000);
    const resampler = createResampler(16_000, 8000);
    const out = [...resampler.push(samples.subarray(0, 1000))];
    const bytes = module.HEAP16.byteLength;
    module._malloc(bytes);
    expect(module.HEAP16.byteLength).toBeGreaterThan(bytes);
    out.push(...resampler.push(samples.subarray(1000)), ...resampler.flush());
    expect(Int16Array.from(out)).toEqual(whole);
    resampler.close();
  });

  it('is reported as overloaded when it is used up', () => {
    const full: SpeexModule = { ...module, HEAP16: module.HEAP16, HEAPU32: module.HEAPU32, _speex_resampler_init: () => 0 };
    expect(() => resamplerMaker(full)(16_000, 8000)).toThrow(expect.objectContaining({ code: 'overloaded' }));
    expect(() => resamplerMaker({ ...full, _malloc: () => 0 })).toThrow(expect.objectContaining({ code: 'overloaded' }));
  });
});

describe('rates that make no sense', () => {
  it.each([
    [0, 8000],
    [8000, 0],
    [3999, 8000],
    [8000, 192_001],
    [8000.5, 8000],
    [Number.NaN, 8000],
    [-16_000, 8000],
    [8000, 96_000],
  ])('refuses %d to %d Hz as unsupported_audio', (fromHz, toHz) => {
    expect(() => createResampler(fromHz, toHz)).toThrow(expect.objectContaining({ code: 'unsupported_audio' }));
  });
});
