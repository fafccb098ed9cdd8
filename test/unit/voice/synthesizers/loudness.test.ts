import { describe, expect, it } from 'vitest';
import { levelled, trimmed } from '../../../../src/voice/synthesizers/loudness.ts';

const tone = (ms: number, peak: number): Int16Array =>
  Int16Array.from({ length: ms * 8 }, (_, index) => Math.round(peak * Math.sin(index / 3)));
const silence = (ms: number): Int16Array => new Int16Array(ms * 8);
const joined = (...parts: Int16Array[]): Int16Array => Int16Array.from(parts.flatMap((part) => [...part]));
const rms = (samples: Int16Array): number => Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
const peak = (samples: Int16Array): number => samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
const dB = (level: number): number => 20 * Math.log10(level / 32_767);

describe('trimmed', () => {
  it.each([0, 10, 50, 400])('leaves 50 ms before and 100 ms after the sound when the ends were %i ms long', (endMs) => {
    const result = trimmed(joined(silence(endMs), tone(300, 8000), silence(endMs)));
    expect(Math.abs(result.length / 8 - 450)).toBeLessThan(2);
    expect(peak(result.subarray(0, 49 * 8))).toBe(0);
    expect(peak(result.subarray(-99 * 8))).toBe(0);
  });

  it('keeps pauses inside', () => {
    expect(Math.abs(trimmed(joined(tone(100, 8000), silence(700), tone(100, 8000))).length / 8 - 1050)).toBeLessThan(2);
  });

  it('makes nothing of silence and of nothing', () => {
    expect(trimmed(silence(100))).toHaveLength(0);
    expect(trimmed(silence(0))).toHaveLength(0);
  });
});

describe('levelled', () => {
  it.each([4000, 8000, 32_767])('brings speech with a peak of %i to -20 dB', (height) => {
    expect(dB(rms(levelled(tone(500, height))))).toBeCloseTo(-20, 1);
  });

  it('does not count pauses as soft speech', () => {
    const result = levelled(joined(tone(500, 8000), silence(5000)));
    expect(dB(rms(result.subarray(0, 4000)))).toBeCloseTo(-20, 1);
  });

  it('keeps the peak of a spiky sound below -3 dB', () => {
    const spiky = tone(500, 900);
    for (let index = 0; index < spiky.length; index += 400) spiky[index] = 30_000;
    expect(dB(peak(levelled(spiky)))).toBeLessThanOrEqual(-3);
  });

  it('does not blow up a whisper beyond four times', () => {
    expect(peak(levelled(tone(500, 100)))).toBeLessThanOrEqual(400);
  });

  it('leaves silence silent and does not touch what it was given', () => {
    expect(peak(levelled(silence(100)))).toBe(0);
    const given = tone(100, 8000);
    levelled(given);
    expect(given).toEqual(tone(100, 8000));
  });
});
