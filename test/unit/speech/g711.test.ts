import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALAW_TO_LINEAR, decodeAlaw, decodeMulaw, encodeMulaw, MULAW_SILENCE, MULAW_TO_LINEAR } from '../../../src/speech/g711.ts';
import { soxDecoded } from '../../support/line-signals.ts';

const allCodes = Uint8Array.from({ length: 256 }, (_, code) => code);

describe('G.711', () => {
  it('G-30 decodes all 256 µ-law codes as sox does', () => {
    expect([...decodeMulaw(allCodes)]).toEqual(soxDecoded('mulaw'));
    expect([...MULAW_TO_LINEAR]).toEqual(soxDecoded('mulaw'));
  });

  it('G-31 decodes all 256 A-law codes as sox does', () => {
    expect([...decodeAlaw(allCodes)]).toEqual(soxDecoded('alaw'));
    expect([...ALAW_TO_LINEAR]).toEqual(soxDecoded('alaw'));
  });

  it('gives every µ-law code back after decoding and encoding, except that the second zero becomes the first', () => {
    const back = encodeMulaw(decodeMulaw(allCodes));
    expect([...back]).toEqual([...allCodes].map((code) => (code === 0x7f ? 0xff : code)));
  });

  it('codes a silent line as 0xff (G-49)', () => {
    expect(MULAW_SILENCE).toBe(0xff);
    expect([...encodeMulaw(new Int16Array(3))]).toEqual([0xff, 0xff, 0xff]);
    expect([...decodeMulaw(Uint8Array.of(0xff, 0x7f))]).toEqual([0, 0]);
  });

  it('stays within half a step of every sample that is not clipped', () => {
    fc.assert(
      fc.property(fc.integer({ min: -32_635, max: 32_635 }), (sample) => {
        const decoded = decodeMulaw(encodeMulaw(Int16Array.of(sample)))[0] ?? Number.NaN;
        // The step doubles with every segment; segments start at powers of two once the bias of 132 is added.
        const step = 2 ** (Math.floor(Math.log2(Math.abs(sample) + 132)) - 4);
        expect(Math.abs(decoded - sample)).toBeLessThanOrEqual(step / 2);
      }),
      { numRuns: 2000 },
    );
  });

  it('clips what is louder than µ-law can say', () => {
    expect([...decodeMulaw(encodeMulaw(Int16Array.of(32_767, -32_768)))]).toEqual([32_124, -32_124]);
  });

  it('never turns a louder sample into a quieter one', () => {
    const samples = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);
    const decoded = decodeMulaw(encodeMulaw(samples));
    expect(decoded.every((level, index) => index === 0 || level >= (decoded[index - 1] ?? 0))).toBe(true);
  });

  it.each([0, 1, 2, 3, 4, 5, 159, 160, 163])('decodes %d codes and touches nothing behind them', (length) => {
    const samples = new Int16Array(168).fill(7);
    decodeMulaw(allCodes.subarray(0, length), samples);
    expect([...samples]).toEqual([...MULAW_TO_LINEAR.subarray(0, length), ...new Array<number>(168 - length).fill(7)]);
  });

  it('writes into the array it is given', () => {
    const bytes = new Uint8Array(2);
    const samples = new Int16Array(2);
    expect(encodeMulaw(Int16Array.of(1000, -1000), bytes)).toBe(bytes);
    expect(decodeMulaw(bytes, samples)).toBe(samples);
    expect([...samples]).toEqual([988, -988]);
  });
});
