// A voice for tests: something that has syllables, pauses and a melody like speech, at any rate and loudness, and the
// measures of a telephone prompt.
import { decodeMulaw } from '../../src/speech/g711.ts';

/** What is spoken. */
export interface VoiceSoundOptions {
  readonly rateHz: number;
  /** Length of the speech without the silence around it, ms. */
  readonly speechMs: number;
  /** Silence before and after it, ms; default 0. */
  readonly beforeMs?: number;
  readonly afterMs?: number;
  /** Loudest sample as a part of full scale; default 0.3. A function of the time in ms for speech that changes. */
  readonly peak?: number | ((ms: number) => number);
}

/** Syllables of 180 ms with 60 ms between them, on a melody around 120 Hz with four overtones. */
export function voiceSound({ rateHz, speechMs, beforeMs = 0, afterMs = 0, peak = 0.3 }: VoiceSoundOptions): Int16Array {
  const samplesOf = (ms: number): number => Math.round((ms * rateHz) / 1000);
  const sound = new Int16Array(samplesOf(beforeMs + speechMs + afterMs));
  const start = samplesOf(beforeMs);
  let phase = 0;
  for (let index = 0; index < samplesOf(speechMs); index += 1) {
    const ms = (index / rateHz) * 1000;
    const inSyllable = ms % 240;
    const syllable = inSyllable < 180 ? Math.sin((Math.PI * inSyllable) / 180) : 0;
    phase += (2 * Math.PI * (120 + 20 * Math.sin(ms / 300))) / rateHz;
    const tone = [1, 2, 3, 5].reduce((sum, harmonic) => sum + Math.sin(phase * harmonic) / harmonic, 0) / 1.7;
    sound[start + index] = Math.round(tone * syllable * (typeof peak === 'number' ? peak : peak(ms)) * 0x7fff);
  }
  return sound;
}

/** 16-bit samples, low byte first: what a service calls `pcm`. */
export function pcmBytes(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** Loudness of µ-law, as parts of full scale. */
export function loudnessOf(mulaw: Uint8Array): { readonly peak: number; readonly rms: number } {
  const samples = decodeMulaw(mulaw);
  return {
    peak: samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0) / 0x7fff,
    rms: Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length)) / 0x7fff,
  };
}
