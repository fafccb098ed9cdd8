import { describe, expect, it } from 'vitest';
import { withPresence } from '../../../../src/voice/synthesizers/presence.ts';

/** A second of a tone, at 8 kHz. */
function tone(hz: number, amplitude = 3000): Int16Array {
  return Int16Array.from({ length: 8000 }, (_, index) => Math.round(amplitude * Math.sin((2 * Math.PI * hz * index) / 8000)));
}

/** How much louder a tone comes out, dB. */
function gainAt(hz: number, gainDb: number): number {
  const power = (samples: Int16Array): number => samples.subarray(1000).reduce((sum, sample) => sum + sample * sample, 0);
  return 10 * Math.log10(power(withPresence(tone(hz), gainDb)) / power(tone(hz)));
}

describe('presence', () => {
  it('lifts what is above 1 kHz, and leaves the rest', () => {
    for (const [hz, db] of [
      [200, 0],
      [1000, 3],
      [3000, 6],
    ] as const) {
      expect(gainAt(hz, 6)).toBeCloseTo(db, 0);
    }
    expect(gainAt(3000, -6)).toBeCloseTo(-6, 0);
  });

  it('does not clip, and changes nothing when there is nothing to lift', () => {
    const loud = withPresence(tone(3000, 30_000), 6);
    expect(loud.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThanOrEqual(32_767);
    expect(withPresence(tone(3000), 0)).toEqual(tone(3000));
    expect(withPresence(new Int16Array(0), 6)).toEqual(new Int16Array(0));
    expect(withPresence(new Int16Array(80), 6)).toEqual(new Int16Array(80));
  });
});
