import { describe, expect, it } from 'vitest';
import { TextLevel, VoiceLevel } from '../../../../src/voice/synthesizers/voice-level.ts';
import { voiceSound, type VoiceSoundOptions } from '../../../support/voice-sound.ts';

const PIECE = 1600;

function sound(peak: VoiceSoundOptions['peak'], speechMs = 4800): Int16Array {
  return voiceSound({ rateHz: 8000, speechMs, ...(peak === undefined ? {} : { peak }) });
}

/** One text piece by piece; what came out, and the gain of every syllable. */
function spoken(voice: VoiceLevel, samples: Int16Array): { levelled: Int16Array; gains: number[] } {
  const text = new TextLevel(voice);
  const levelled = samples.slice();
  for (let from = 0; from < samples.length; from += PIECE) text.level(levelled.subarray(from, from + PIECE));
  voice.textSpoken();
  const gains: number[] = [];
  for (let from = 0; from + 1920 <= samples.length; from += 1920) {
    gains.push(rms(levelled.subarray(from, from + 1440)) / rms(samples.subarray(from, from + 1440)));
  }
  return { levelled, gains };
}

function rms(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length) / 0x7fff;
}

const decibels = (factor: number): number => 20 * Math.log10(factor);

describe('TextLevel', () => {
  it.each([0.02, 0.08, 0.3, 0.95])('brings a voice of peak %f to one loudness from its second text on', (peak) => {
    const voice = new VoiceLevel();
    spoken(voice, sound(peak));
    const { levelled } = spoken(voice, sound(peak));
    // The quietest voice would need more than the most that is added.
    const least = peak === 0.02 ? 0.02 : 0.075;
    expect(rms(levelled)).toBeGreaterThan(least);
    expect(rms(levelled)).toBeLessThan(0.12);
    expect(levelled.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0) / 0x7fff).toBeLessThan(0.72);
  });

  it('does not change a voice that is known by a tenth of a decibel from syllable to syllable', () => {
    const voice = new VoiceLevel();
    spoken(voice, sound(0.2));
    const { gains } = spoken(voice, sound(0.2));
    for (const gain of gains) expect(Math.abs(decibels(gain / (gains[0] ?? 1)))).toBeLessThan(0.3);
  });

  it('does not pump: words that are softer stay softer, and nothing moves faster than 2 dB a second', () => {
    const voice = new VoiceLevel();
    const { gains } = spoken(
      voice,
      sound((ms) => (Math.floor(ms / 960) % 2 === 0 ? 0.3 : 0.1), 9600),
    );
    for (const [index, gain] of gains.entries()) {
      const before = gains[index - 1] ?? gain;
      expect(Math.abs(decibels(gain / before))).toBeLessThan(2 * 0.24 + 0.1);
    }
  });

  it('trusts the first soft sound of an unknown voice little', () => {
    const { gains } = spoken(
      new VoiceLevel(),
      sound((ms) => (ms < 240 ? 0.02 : 0.5)),
    );
    expect(gains[0]).toBeLessThan(2.1);
    expect(gains.at(-1)).toBeGreaterThan(0.5);
  });

  it('lets no sample come near clipping, not even a sudden one', () => {
    const voice = new VoiceLevel();
    spoken(voice, sound(0.1));
    const sudden = sound((ms) => (ms > 2400 && ms < 2640 ? 1 : 0.1));
    const { levelled } = spoken(voice, sudden);
    expect(levelled.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThanOrEqual(0x7fff);
    expect(levelled.filter((sample) => Math.abs(sample) === 0x7fff)).toHaveLength(0);
  });

  it('leaves silence silent', () => {
    const voice = new VoiceLevel();
    const { levelled } = spoken(voice, new Int16Array(8000));
    expect(levelled.every((sample) => sample === 0)).toBe(true);
    expect(voice.gain).toBe(1);
  });

  it('does not count pauses as speech', () => {
    const [dense, sparse] = [new VoiceLevel(), new VoiceLevel()];
    dense.hear(sound(0.2));
    sparse.hear(sound(0.2));
    sparse.hear(new Int16Array(80_000));
    expect(sparse.gain).toBe(dense.gain);
  });

  it('forgets: a voice that becomes louder is levelled anew', () => {
    const voice = new VoiceLevel();
    const [soft, loud] = [sound(0.1, 2400), sound(0.4, 2400)];
    const hear = (samples: Int16Array, texts: number): void => {
      for (let text = 0; text < texts; text += 1) {
        voice.hear(samples);
        voice.textSpoken();
      }
    };
    hear(soft, 20);
    const before = voice.gain;
    hear(loud, 40);
    expect(voice.gain).toBeLessThan(before / 2);
    hear(soft, 100);
    expect(voice.gain).toBeGreaterThan(before * 0.8);
  });
});
