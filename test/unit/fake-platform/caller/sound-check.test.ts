import { describe, expect, it } from 'vitest';
import { findSound, soundDifference, soundFacts, SoundMeter } from '../../../../src/fake-platform/caller/sound-check.ts';
import { decodeMulaw, encodeMulaw } from '../../../../src/speech/g711.ts';

const QUIET = (samples: number): Int16Array => new Int16Array(samples);

function wave(ms: number, amplitude: number, hertz = 440): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, index) =>
    Math.max(-32_768, Math.min(32_767, Math.round(amplitude * Math.sin((2 * Math.PI * hertz * (index + 0.5)) / 8000)))),
  );
}

/** Noise: nothing of it repeats itself. */
function noise(samples: number, seed = 1): Int16Array {
  let state = seed;
  return Int16Array.from({ length: samples }, () => {
    state = Math.imul(state, 1_103_515_245) + 12_345;
    return (state >> 18) | 1;
  });
}

function joined(...parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

describe('clipping', () => {
  it.each([
    ['a wave below full scale', wave(100, 31_000), 0],
    ['a wave of which every top is cut off', wave(100, 60_000), 88],
    ['the same in µ-law', decodeMulaw(encodeMulaw(wave(100, 60_000))), 88],
    ['two samples at full scale', joined(wave(10, 9000), Int16Array.of(32_767, 32_767), wave(10, 9000)), 0],
    ['both ends of the scale in turn', Int16Array.of(32_767, -32_768, 32_767, -32_768, 32_767), 0],
  ])('counts the cut tops in %s', (_, samples, clips) => {
    expect(soundFacts(samples).clips).toBe(clips);
  });

  it('says where it begins and how long it is at most, also over the seam of two pieces', () => {
    const meter = new SoundMeter();
    meter.push(joined(wave(10, 9000), Int16Array.of(-32_768, -32_768)));
    meter.push(joined(Int16Array.of(-32_768, -32_768), wave(10, 9000)));
    expect(meter.facts).toMatchObject({ clips: 1, firstClipAtMs: 10, longestClipMs: 0.5, lengthMs: 20.5 });
  });
});

describe('quiet in the middle', () => {
  it('is the longest time without a sound between two, with its place', () => {
    const samples = joined(QUIET(800), wave(100, 8000), QUIET(400), wave(100, 8000), QUIET(1600), wave(50, 8000), QUIET(8000));
    const { longestQuietMs, longestQuietAtMs } = soundFacts(samples);
    expect(longestQuietMs).toBeGreaterThanOrEqual(200);
    expect(longestQuietMs).toBeLessThan(201);
    expect(Math.round(longestQuietAtMs ?? 0)).toBe(350);
  });

  it('is none in a tone, in silence, and in nothing', () => {
    expect(soundFacts(wave(500, 8000)).longestQuietMs).toBeLessThan(1);
    expect(soundFacts(QUIET(8000))).toMatchObject({ longestQuietMs: 0, longestQuietAtMs: undefined });
    expect(soundFacts(QUIET(0))).toMatchObject({ lengthMs: 0, clips: 0, firstClipAtMs: undefined });
  });
});

describe('heard beside known', () => {
  const known = noise(4000);

  it('is the same when every sample is, in one piece or in many', () => {
    expect(soundDifference(known, known)).toBeUndefined();
    expect(soundDifference([known.subarray(0, 7), QUIET(0), known.subarray(7)], known)).toBeUndefined();
    expect(soundDifference([], QUIET(0))).toBeUndefined();
  });

  it.each([
    ['a lost piece', joined(known.subarray(0, 800), known.subarray(960)), { firstDifference: 800, missing: 160, extra: 0 }],
    ['a doubled piece', joined(known.subarray(0, 960), known.subarray(800)), { firstDifference: 960, missing: 0, extra: 160 }],
    ['silence put in', joined(known.subarray(0, 800), QUIET(80), known.subarray(800)), { firstDifference: 800, missing: 0, extra: 80 }],
    ['a lost beginning', known.subarray(400), { firstDifference: 0, missing: 400, extra: 0 }],
    ['a lost end', known.subarray(0, 3000), { firstDifference: 3000, missing: 1000, extra: 0 }],
    ['one wrong sample', known.map((sample, index) => (index === 77 ? sample + 2 : sample)), { firstDifference: 77, missing: 1, extra: 1 }],
    ['nothing', QUIET(0), { firstDifference: 0, missing: 4000, extra: 0 }],
    ['another sound', noise(4000, 99), { firstDifference: 0, missing: 4000, extra: 4000 }],
  ])('tells %s', (_, heard, expected) => {
    expect(soundDifference(heard, known)).toEqual(expected);
  });
});

describe('finding a known sound', () => {
  const known = joined(QUIET(100), noise(2000));

  it('gives the sample it begins with, silence of its own included', () => {
    const heard = joined(noise(500, 5), known, noise(500, 6), known);
    expect(findSound(heard, known)).toBe(500);
    expect(findSound(heard, known, 501)).toBe(3100);
  });

  it('finds one that breaks off, and one that looks like itself a little later', () => {
    expect(findSound(joined(QUIET(50), known.subarray(0, 400)), known)).toBe(50);
    const stutter = joined(noise(60, 3), noise(60, 3), noise(300, 4));
    expect(findSound(joined(noise(60, 3), stutter), stutter)).toBe(60);
  });

  it('finds nothing where it is not, and no silence anywhere', () => {
    expect(findSound(noise(5000, 7), known)).toBeUndefined();
    expect(findSound(QUIET(500), QUIET(100))).toBeUndefined();
  });
});
