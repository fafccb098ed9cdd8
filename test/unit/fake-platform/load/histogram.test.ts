// Histograms merge to what one histogram of all values is, survive being written down, and say how sure they are.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Histogram } from '../../../../src/fake-platform/load/histogram.ts';

const of = (values: readonly number[]): Histogram => {
  const histogram = Histogram.empty();
  for (const value of values) histogram.record(value);
  return histogram;
};

describe('a histogram', () => {
  it('knows percentiles to three digits, and is all zero when empty', () => {
    const { count, mean, p50, p99, p999, max } = of(Array.from({ length: 1000 }, (_, index) => index + 1)).percentiles;
    expect(count).toBe(1000);
    for (const [value, expected] of [
      [mean, 500.5],
      [p50, 500],
      [p99, 990],
      [p999, 999],
      [max, 1000],
    ] as const) {
      expect(Math.abs(value / expected - 1)).toBeLessThan(0.001);
    }
    expect(Histogram.empty().percentiles).toEqual({ count: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 });
  });

  it('merged from several, written and read again, is that of all values', () => {
    const times = fc.array(fc.double({ min: 0, max: 100_000, noNaN: true }), { maxLength: 50 });
    fc.assert(
      fc.property(fc.array(times, { minLength: 1, maxLength: 4 }), (parts) => {
        const merged = Histogram.empty();
        for (const part of parts) merged.add(Histogram.decoded(of(part).encoded));
        expect(merged.percentiles).toEqual(of(parts.flat()).percentiles);
      }),
      { numRuns: 50 },
    );
  });

  it('counts what is out of its range at its ends', () => {
    const histogram = of([-5, 1e12]);
    expect(histogram.at(50)).toBe(0);
    expect(Math.abs(histogram.at(100) / 3_600_000 - 1)).toBeLessThan(0.001);
  });

  it('says within which range a percentile lies, narrower with more values', () => {
    const values = (count: number) => Array.from({ length: count }, (_, index) => ((index * 7919) % count) / (count / 1000));
    const [fewLow, fewHigh] = of(values(100)).range(50);
    const [manyLow, manyHigh] = of(values(10_000)).range(50);
    expect(fewLow).toBeLessThan(manyLow);
    expect(fewHigh).toBeGreaterThan(manyHigh);
    expect(manyLow).toBeLessThan(500);
    expect(manyHigh).toBeGreaterThan(500);
    expect(of(values(100)).range(99)[1]).toBe(Number.POSITIVE_INFINITY);
    expect(of(values(1000)).range(99)[1]).toBeLessThanOrEqual(1001);
  });

  it('cannot be read from anything else', () => {
    expect(() => Histogram.decoded('garbage')).toThrow(RangeError);
    expect(() => Histogram.decoded('')).toThrow(RangeError);
  });
});
