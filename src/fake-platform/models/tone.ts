// The speech of fake models: a tone as long as the words would take.
import { encodeMulaw } from '../../speech/g711.ts';

/** Length of the tone per character, ms. */
export const SPOKEN_MS = 60;

const LINE_HZ = 8000;
const TONE_HZ = 300;
const LOUD = 4000;

/** @returns 16 bit samples. */
export function tone(ms: number, rateHz: number): Int16Array {
  return Int16Array.from({ length: Math.round((ms * rateHz) / 1000) }, (_, index) =>
    Math.round(LOUD * Math.sin((2 * Math.PI * TONE_HZ * index) / rateHz)),
  );
}

/** G.711 µ-law, 8 kHz. */
export function lineTone(ms: number): Uint8Array {
  return encodeMulaw(tone(ms, LINE_HZ));
}
