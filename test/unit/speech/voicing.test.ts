import { describe, expect, it } from 'vitest';
import { decodeMulaw } from '../../../src/speech/g711.ts';
import { Voicing } from '../../../src/speech/voicing.ts';
import { hum, noise, signal, silence } from '../../support/line-signals.ts';

/** The strengths of all frames. */
function strengths(mulaw: Uint8Array, voicing = new Voicing()): number[] {
  const samples = decodeMulaw(mulaw);
  return Array.from({ length: Math.floor(samples.length / 160) }, (_, n) => {
    voicing.push(samples.subarray(n * 160, (n + 1) * 160));
    return voicing.strength();
  });
}

/** A voice at one pitch: pulses with overtones. */
const voice = (ms: number, hertz: number): Uint8Array => signal(ms, (index) => 0.3 * ((((index * hertz) / 8000) % 1) - 0.5));

describe('what the vocal cords make', () => {
  it.each([70, 90, 120, 180, 250, 330, 390])('repeats itself at a pitch of %d Hz', (hertz) => {
    const all = strengths(voice(400, hertz));
    expect(Math.min(...all.slice(3))).toBeGreaterThan(0.8);
  });

  it('is told one or two frames after it began', () => {
    const all = strengths(new Uint8Array([...silence(100), ...voice(100, 120)]));
    expect(all.findIndex((strength) => strength > 0.65)).toBeLessThanOrEqual(6);
  });

  it('stays between nothing and one', () => {
    for (const strength of strengths(voice(400, 200))) {
      expect(strength).toBeGreaterThanOrEqual(0);
      expect(strength).toBeLessThanOrEqual(1.000001);
    }
  });
});

describe('what they do not make', () => {
  it('does not repeat itself: noise', () => {
    expect(Math.max(...strengths(noise(2000, -20)))).toBeLessThan(0.6);
  });

  it('is nothing at all: silence, also after a sound', () => {
    expect(strengths(silence(100))).toEqual([0, 0, 0, 0, 0]);
    const voicing = new Voicing();
    strengths(voice(100, 120), voicing);
    voicing.push(new Int16Array(160));
    voicing.push(new Int16Array(160));
    voicing.push(new Int16Array(160));
    expect(voicing.strength()).toBeLessThan(0.2);
  });

  it('is rumble below the voice', () => {
    let low = 0;
    let random = 1;
    const rumble = signal(1000, () => {
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
      low += 0.02 * (random / 2 ** 32 - 0.5 - low);
      return low * 5;
    });
    const all = strengths(rumble).slice(3);
    expect(all.filter((strength) => strength > 0.65).length / all.length).toBeLessThan(0.2);
  });
});

describe('reset', () => {
  it('forgets the line', () => {
    const voicing = new Voicing();
    strengths(hum(200, -10), voicing);
    voicing.reset();
    expect(strengths(voice(200, 120), voicing)).toEqual(strengths(voice(200, 120)));
  });
});
