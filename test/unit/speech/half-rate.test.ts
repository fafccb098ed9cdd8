import { describe, expect, it } from 'vitest';
import { HALF_FRAME_SAMPLES, HalfRateLine } from '../../../src/speech/half-rate.ts';

/** A line that took these frames. */
function lineOf(capacity: number, ...frames: readonly Int16Array[]): HalfRateLine {
  const line = new HalfRateLine(capacity);
  for (const frame of frames) line.push(frame);
  return line;
}

const frameOf = (sampleAt: (index: number) => number): Int16Array => Int16Array.from({ length: 160 }, (_, index) => sampleAt(index));
const tone = (hertz: number): Int16Array => frameOf((index) => Math.round(10_000 * Math.sin((2 * Math.PI * hertz * index) / 8000 + 1)));

describe('the power of a frame', () => {
  it('is the mean of the squares of its samples', () => {
    expect(
      lineOf(
        1,
        frameOf((index) => [3, -4, 0, 5][index % 4] ?? 0),
      ).power,
    ).toBe(12.5);
    expect(lineOf(1, new Int16Array(160)).power).toBe(0);
    expect(lineOf(1, new Int16Array(160).fill(-32_768)).power).toBe(32_768 ** 2);
  });
});

describe('the brightness of a frame', () => {
  it.each([100, 300, 700, 1200, 1900, 3000, 3900])('measures the brightness of a tone of %d Hz', (hertz) => {
    expect(lineOf(1, tone(hertz)).brightness).toBeCloseTo(Math.sin((Math.PI * hertz) / 8000) ** 2, 1);
  });

  it('is 0 for what does not move, for silence too, and 1 for what turns with each sample', () => {
    expect(lineOf(1, new Int16Array(160)).brightness).toBe(0);
    expect(lineOf(1, new Int16Array(160).fill(1000)).brightness).toBe(0);
    expect(
      lineOf(
        1,
        frameOf((index) => (index % 2 === 0 ? 32_767 : -32_767)),
      ).brightness,
    ).toBe(1);
  });
});

describe('what is kept', () => {
  const at = (line: HalfRateLine, age: number): Int16Array => line.samples.slice(line.startOf(age), line.startOf(age) + HALF_FRAME_SAMPLES);

  it('is the mean of every two samples, also of the loudest', () => {
    expect([
      ...at(
        lineOf(
          2,
          frameOf((index) => index * 4),
        ),
        0,
      ),
    ]).toEqual(Array.from({ length: 80 }, (_, index) => index * 8 + 2));
    for (const loudest of [-32_768, 32_767]) {
      expect(at(lineOf(1, new Int16Array(160).fill(loudest)), 0)).toEqual(new Int16Array(80).fill(loudest));
    }
  });

  it('are the newest frames, by age, however many there were', () => {
    const line = new HalfRateLine(3);
    for (let number = 1; number <= 8; number += 1) {
      line.push(new Int16Array(160).fill(number));
      for (let age = 0; age < 3; age += 1) expect(at(line, age)).toEqual(new Int16Array(80).fill(Math.max(0, number - age)));
    }
  });

  it('is nothing after reset', () => {
    const line = lineOf(3, tone(500), tone(600), tone(700));
    line.reset();
    for (let age = 0; age < 3; age += 1) expect(at(line, age)).toEqual(new Int16Array(80));
  });
});
