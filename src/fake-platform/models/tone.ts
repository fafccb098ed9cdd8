// The speech of fake models: a tone that lasts as long as the words would.
import { encodeMulaw } from '../../speech/g711.ts';

/** Length of the tone per character, ms. */
export const SPOKEN_MS = 60;

const LINE_HZ = 8000;
const TONE_HZ = 300;
const LOUD = 4000;

/** @returns 16-bit samples. @param rateHz - a multiple of 100. */
export function tone(ms: number, rateHz: number): Int16Array {
  const samples = new Int16Array(Math.round((ms * rateHz) / 1000));
  // Computes whole periods and repeats them: a sine for each sample would take longer than all other work of the models.
  const repeated = rateHz / 100;
  for (let index = 0; index < Math.min(repeated, samples.length); index += 1)
    samples[index] = Math.round(LOUD * Math.sin((2 * Math.PI * TONE_HZ * index) / rateHz));
  for (let filled = repeated; filled < samples.length; filled *= 2) samples.copyWithin(filled, 0, filled);
  return samples;
}

/** The tone as G.711 µ-law, 8 kHz. */
export function lineTone(ms: number): Uint8Array {
  return encodeMulaw(tone(ms, LINE_HZ));
}
