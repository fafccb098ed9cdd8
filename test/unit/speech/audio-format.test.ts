import { describe, expect, it } from 'vitest';
import { FALLBACK_FORMAT, nextFormat } from '../../../src/speech/audio-format.ts';

describe('the format of a call', () => {
  it('G-32 is 8 kHz µ-law until a message names another', () => {
    expect(FALLBACK_FORMAT).toEqual({ encoding: 'mulaw', sampleRateHz: 8000 });
    expect(nextFormat(FALLBACK_FORMAT, {})).toBe(FALLBACK_FORMAT);
  });

  it('G-32 keeps what a message does not name', () => {
    const wide = nextFormat(FALLBACK_FORMAT, { sampleRateHz: 16_000 });
    expect(wide).toEqual({ encoding: 'mulaw', sampleRateHz: 16_000 });
    const linear = nextFormat(wide, { encoding: 'linear16' });
    expect(linear).toEqual({ encoding: 'linear16', sampleRateHz: 16_000 });
    expect(nextFormat(linear, {})).toBe(linear);
  });

  it('is the remembered object while nothing changes', () => {
    expect(nextFormat(FALLBACK_FORMAT, { encoding: 'mulaw', sampleRateHz: 8000 })).toBe(FALLBACK_FORMAT);
  });

  it.each([0, 1, 11_025, 44_100, Number.NaN])('G-31 refuses %d Hz as unsupported_audio', (sampleRateHz) => {
    expect(() => nextFormat(FALLBACK_FORMAT, { sampleRateHz })).toThrow(expect.objectContaining({ code: 'unsupported_audio' }));
  });
});
