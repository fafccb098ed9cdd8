import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isKeyTone } from '../../../src/speech/key-tones.ts';
import { decodeMulaw } from '../../../src/speech/g711.ts';
import { HalfRateLine } from '../../../src/speech/half-rate.ts';
import { noise, recorded, signal } from '../../support/line-signals.ts';

const LOW_HZ = [697, 770, 852, 941];
const HIGH_HZ = [1209, 1336, 1477, 1633];

const wave = (hertz: number, index: number): number => Math.sin((2 * Math.PI * hertz * index) / 8000);
/** 20 ms of tones through µ-law, each with its loudness. */
const frameOf = (...tones: readonly (readonly [hertz: number, loudness: number])[]): Int16Array =>
  decodeMulaw(signal(20, (index) => tones.reduce((sum, [hertz, loudness]) => sum + loudness * wave(hertz, index + 13), 0)));
const lineOf = (frame: Int16Array): HalfRateLine => {
  const line = new HalfRateLine(1);
  line.push(frame);
  return line;
};
const isKey = (frame: Int16Array): boolean => {
  const { power, brightness } = lineOf(frame);
  return isKeyTone(frame, power, brightness);
};

describe('the tone of a key', () => {
  it('is detected for all sixteen keys, loud and low, and with one tone louder than the other', () => {
    for (const low of LOW_HZ) {
      for (const high of HIGH_HZ) {
        for (const [one, other] of [
          [0.4, 0.4],
          [0.02, 0.02],
          [0.2, 0.4],
          [0.4, 0.2],
        ] as const)
          expect(isKey(frameOf([low, one], [high, other]))).toBe(true);
      }
    }
  });

  it('may be a little off its frequency', () => {
    expect(isKey(frameOf([697 * 1.015, 0.3], [1477 * 0.985, 0.3]))).toBe(true);
  });

  it('is not one tone alone, nor two of one group', () => {
    expect(isKey(frameOf([770, 0.5]))).toBe(false);
    expect(isKey(frameOf([1336, 0.5]))).toBe(false);
    expect(isKey(frameOf([697, 0.3], [941, 0.3]))).toBe(false);
    expect(isKey(frameOf([1209, 0.3], [1633, 0.3]))).toBe(false);
  });

  it('needs a tenth of the power in each tone', () => {
    const withPart = (part: number): number => Math.sqrt(part / (1 - part));
    expect(isKey(frameOf([770, 0.5], [1336, 0.5 * withPart(0.14)]))).toBe(true);
    expect(isKey(frameOf([770, 0.5], [1336, 0.5 * withPart(0.05)]))).toBe(false);
    expect(isKey(frameOf([770, 0.5 * withPart(0.14)], [1336, 0.5]))).toBe(true);
    expect(isKey(frameOf([770, 0.5 * withPart(0.05)], [1336, 0.5]))).toBe(false);
  });

  it('is never lost by being taken for too dark, whatever sounds below it', () => {
    const part = fc.integer({ min: 0, max: 50 }).map((hundredths) => hundredths / 100);
    const off = fc.integer({ min: -15, max: 15 }).map((thousandths) => 1 + thousandths / 1000);
    let keys = 0;
    fc.assert(
      fc.property(fc.constantFrom(...LOW_HZ), fc.constantFrom(...HIGH_HZ), off, off, part, part, part, fc.nat(400), (...drawn) => {
        const [low, high, lowOff, highOff, one, other, below, belowHz] = drawn;
        const frame = frameOf([low * lowOff, one], [high * highOff, other], [belowHz, below]);
        const { power, brightness } = lineOf(frame);
        fc.pre(power > 10_000);
        const isIt = isKeyTone(frame, power, 1);
        if (isIt) keys += 1;
        expect(isKeyTone(frame, power, brightness)).toBe(isIt);
      }),
      { numRuns: 3000 },
    );
    expect(keys).toBeGreaterThan(500);
  });

  it('is not heard where more than a third of the power is something else', () => {
    expect(isKey(frameOf([770, 0.3], [1336, 0.3], [300, 0.25]))).toBe(true);
    expect(isKey(frameOf([770, 0.3], [1336, 0.3], [300, 0.38]))).toBe(false);
  });

  it('is not silence and not noise', () => {
    expect(isKey(decodeMulaw(noise(20, -20)))).toBe(false);
    fc.assert(
      fc.property(fc.int16Array({ minLength: 160, maxLength: 160 }), (frame) => {
        fc.pre(lineOf(frame).power > 0);
        expect(isKey(frame)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it.each(['sentence', 'number', 'yes'] as const)('is in no frame of %s', (name) => {
    const samples = decodeMulaw(recorded(name));
    for (let from = 0; from + 160 <= samples.length; from += 160) {
      const frame = samples.subarray(from, from + 160);
      // Frames without sound are not asked about.
      if (lineOf(frame).power > 10_000) expect(isKey(frame)).toBe(false);
    }
  });
});
