import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkedPatience,
  DEFAULT_PATIENCE,
  DIGIT_SILENCE_LIMITS,
  digitPatience,
  PATIENCE_LIMITS,
  patienceFor,
  type SpeechPatience,
} from '../../../src/speech/patience.ts';

const NAMES = [
  'startMs',
  'interruptMs',
  'endSilenceMs',
  'resumeGraceMs',
  'maxUtteranceMs',
  'preRollMs',
] as const satisfies readonly (keyof SpeechPatience)[];
const base: SpeechPatience = {
  startMs: 80,
  interruptMs: 300,
  endSilenceMs: 500,
  resumeGraceMs: 100,
  maxUtteranceMs: 10_000,
  preRollMs: 100,
};

describe('the limits of patience', () => {
  it.each(NAMES)('take %s up to both limits and refuse what lies beyond', (name) => {
    const [least, largest] = PATIENCE_LIMITS[name];
    for (const ms of [least, largest]) expect(checkedPatience({ ...base, [name]: ms })[name]).toBe(ms);
    for (const ms of [least - 1, largest + 1, Number.NaN, Infinity]) {
      expect(() => checkedPatience({ ...base, [name]: ms })).toThrow(
        expect.objectContaining({
          code: 'config_invalid',
          message: `${name} is ${String(ms)}; it must lie between ${String(least)} and ${String(largest)} ms`,
        }),
      );
    }
  });

  it('hold for the defaults', () => {
    expect(checkedPatience(DEFAULT_PATIENCE)).toBe(DEFAULT_PATIENCE);
  });
});

describe('a patience that leaves something out', () => {
  it('is filled up from the base, not from what was in force', () => {
    const current = patienceFor({ startMs: 200, endSilenceMs: 900 }, base, base);
    expect(current).toEqual({ ...base, startMs: 200, endSilenceMs: 900 });
    expect(patienceFor({ interruptMs: 500 }, base, current)).toEqual({ ...base, interruptMs: 500 });
  });

  it.each(NAMES)('takes %s from what is given', (name) => {
    const [least] = PATIENCE_LIMITS[name];
    expect(patienceFor({ [name]: least }, base, base)).toEqual({ ...base, [name]: least });
  });

  it.each(NAMES)('is the very patience in force unless %s differs', (name) => {
    expect(patienceFor({ [name]: base[name] }, base, base)).toBe(base);
    const current = patienceFor({ [name]: PATIENCE_LIMITS[name][1] }, base, base);
    expect(patienceFor({ [name]: PATIENCE_LIMITS[name][1] }, base, current)).toBe(current);
    expect(patienceFor({}, base, current)).toEqual(base);
  });

  it('is refused when a value is out of range', () => {
    expect(() => patienceFor({ startMs: 19 }, base, base)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});

describe('the patience for digits', () => {
  it('keeps the grace and suspects the end later', () => {
    expect(digitPatience(1500, base)).toEqual({ endSilenceMs: 1400, resumeGraceMs: 100 });
    expect(digitPatience(1500, DEFAULT_PATIENCE)).toEqual({ endSilenceMs: 1300, resumeGraceMs: 200 });
  });

  it('is what was asked for in total, or the longer patience there was, and lies within the limits', () => {
    const [least, largest] = DIGIT_SILENCE_LIMITS;
    expect(DIGIT_SILENCE_LIMITS).toEqual([100, 20_000]);
    fc.assert(
      fc.property(fc.integer({ min: least, max: largest }), fc.integer({ min: 0, max: 10_000 }), (digitSilenceMs, resumeGraceMs) => {
        const { endSilenceMs = 0, resumeGraceMs: grace = 0 } = digitPatience(digitSilenceMs, { ...base, resumeGraceMs });
        expect(endSilenceMs + grace).toBe(Math.max(digitSilenceMs, base.endSilenceMs + resumeGraceMs));
        checkedPatience({ ...base, endSilenceMs, resumeGraceMs: grace });
      }),
    );
  });
});
