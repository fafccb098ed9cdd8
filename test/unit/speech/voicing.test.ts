import { describe, expect, it } from 'vitest';
import { decodeMulaw } from '../../../src/speech/g711.ts';
import { HalfRateLine } from '../../../src/speech/half-rate.ts';
import { Voicing, VOICING_FRAMES } from '../../../src/speech/voicing.ts';
import { hum, joined, noise, recorded, signal, silence } from '../../support/line-signals.ts';

const KEPT_FRAMES = VOICING_FRAMES + 5;

/** A line and what tells whether it is voiced. */
class Ear {
  readonly line = new HalfRateLine(KEPT_FRAMES);
  readonly voicing = new Voicing(this.line);

  push(frame: Int16Array): void {
    this.line.push(frame);
  }

  strength(age?: number, enough?: number): number {
    return this.voicing.strength(age, enough);
  }

  reset(): void {
    this.line.reset();
    this.voicing.reset();
  }
}

/** What is asked after each frame. */
function afterEach<T>(mulaw: Uint8Array, ear: Ear, ask: () => T): T[] {
  const samples = decodeMulaw(mulaw);
  return Array.from({ length: Math.floor(samples.length / 160) }, (_, n) => {
    ear.push(samples.subarray(n * 160, (n + 1) * 160));
    return ask();
  });
}

/** The strengths of all frames. */
function strengths(mulaw: Uint8Array, ear = new Ear()): number[] {
  return afterEach(mulaw, ear, () => ear.strength());
}

/** A voice at one pitch: pulses with overtones. */
const voice = (ms: number, hertz: number): Uint8Array => signal(ms, (index) => 0.3 * ((((index * hertz) / 8000) % 1) - 0.5));

describe('what the vocal cords make', () => {
  it.each([70, 90, 120, 180, 250, 330, 390])('repeats itself at a pitch of %d Hz', (hertz) => {
    const all = strengths(voice(400, hertz));
    expect(Math.min(...all.slice(3))).toBeGreaterThan(0.8);
  });

  it('is detected one or two frames after it began', () => {
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
    const ear = new Ear();
    strengths(voice(100, 120), ear);
    ear.push(new Int16Array(160));
    ear.push(new Int16Array(160));
    ear.push(new Int16Array(160));
    expect(ear.strength()).toBeLessThan(0.2);
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

describe('a frame that is asked about later', () => {
  it.each([1, 3, 5])('is as voiced as it was %d frames before', (age) => {
    const line = joined(recorded('sentence'), noise(200, -20));
    const ear = new Ear();
    const later = afterEach(line, ear, () => ear.strength(age)).slice(age);
    const atOnce = strengths(line).slice(0, -age);
    expect(later.length).toBeGreaterThan(100);
    later.forEach((strength, index) => {
      expect(strength).toBeCloseTo(atOnce[index] ?? Number.NaN, 9);
    });
  });
});

describe('a strength that is enough', () => {
  it.each([0.3, 0.65, 0.9])('%d is reached by the same frames as if all lags were tried', (enough) => {
    const line = joined(recorded('number'), noise(500, -20), recorded('sentence'));
    const ear = new Ear();
    const told = afterEach(line, ear, () => ear.strength(0, enough) >= enough);
    expect(told).toEqual(strengths(line).map((strength) => strength >= enough));
    expect(told).toContain(true);
    expect(told).toContain(false);
  });
});

describe('reset', () => {
  it('forgets the line', () => {
    const ear = new Ear();
    strengths(hum(200, -10), ear);
    ear.reset();
    expect(strengths(voice(200, 120), ear)).toEqual(strengths(voice(200, 120)));
  });
});
