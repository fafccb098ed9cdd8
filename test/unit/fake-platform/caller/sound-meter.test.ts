import { describe, expect, it } from 'vitest';
import { SoundMeter, type SoundFacts } from '../../../../src/fake-platform/caller/sound-meter.ts';
import { decodeMulaw, encodeMulaw } from '../../../../src/speech/g711.ts';

const QUIET = (samples: number): Int16Array => new Int16Array(samples);

function wave(ms: number, amplitude: number, hertz = 440): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, index) =>
    Math.max(-32_768, Math.min(32_767, Math.round(amplitude * Math.sin((2 * Math.PI * hertz * (index + 0.5)) / 8000)))),
  );
}

function soundFacts(samples: Int16Array): SoundFacts {
  const meter = new SoundMeter();
  meter.push(samples);
  return meter.facts;
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
