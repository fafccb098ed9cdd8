// How well a voice is understood on a telephone: the Speech Intelligibility Index (ANSI S3.5-1997, one-third octaves without masking
// between bands) in the noise of a room (Hoth, ITU-T P.800), at the level at which the voice is sent. Knows no voice.
import { LINE_RATE_HZ } from '../src/speech/audio-format.ts';

/** One band: its centre, how much it matters, and the noise of a room at 50 dB(A), both dB SPL/Hz. */
const BANDS = [
  { hz: 200, importance: 0.0095, noise: 27.6 },
  { hz: 250, importance: 0.015, noise: 26 },
  { hz: 315, importance: 0.0289, noise: 24.4 },
  { hz: 400, importance: 0.044, noise: 22.7 },
  { hz: 500, importance: 0.0578, noise: 21.1 },
  { hz: 630, importance: 0.0653, noise: 19.5 },
  { hz: 800, importance: 0.0711, noise: 17.8 },
  { hz: 1000, importance: 0.0818, noise: 16.2 },
  { hz: 1250, importance: 0.0844, noise: 14.6 },
  { hz: 1600, importance: 0.0882, noise: 12.9 },
  { hz: 2000, importance: 0.0898, noise: 11.3 },
  { hz: 2500, importance: 0.0868, noise: 9.6 },
  { hz: 3150, importance: 0.0844, noise: 7.8 },
] as const;
/** Louder than Hoth's quiet room, dB: an office. */
const NOISE_DB = 5;
/** What -20 dB of full scale is at the ear, dB SPL. */
const FULL_SCALE_SPL = 85;
/** Highest frequency of the line, Hz. */
const LINE_TOP_HZ = 3400;
const FRAME = 512;
/** Frames below this root mean square are pauses. */
const PAUSE_RMS = 150;
const HALF_BAND = 2 ** (1 / 6);

/** The measures of one voice. */
export interface VoiceScore {
  /** Speech Intelligibility Index, 0 to 1. */
  readonly sii: number;
  /** What is above 1 kHz compared with what is below, dB. */
  readonly presenceDb: number;
  /** Root mean square of the speech, dB of full scale. */
  readonly levelDb: number;
}

/** @param samples - of 8 kHz, as they are sent. */
export function scoreVoice(samples: Int16Array): VoiceScore {
  const density = densityOf(samples);
  const power = (fromHz: number, toHz: number): number => density.reduce((sum, one, bin) => sum + (isIn(bin, fromHz, toHz) ? one : 0), 0);
  const decibel = (value: number): number => 10 * Math.log10(value);
  let [audible, all] = [0, 0];
  for (const { hz, importance, noise } of BANDS) {
    const bins = density.filter((_, bin) => isIn(bin, hz / HALF_BAND, Math.min(LINE_TOP_HZ, hz * HALF_BAND)));
    const level = decibel(bins.reduce((sum, one) => sum + one, 0) / bins.length / binHz()) + FULL_SCALE_SPL;
    // From 15 dB below the noise, where nothing is heard, to 15 dB above it.
    audible += importance * Math.min(1, Math.max(0, (level - noise - NOISE_DB + 15) / 30));
    all += importance;
  }
  return {
    sii: audible / all,
    presenceDb: decibel(power(1000, LINE_TOP_HZ) / power(200, 1000)),
    levelDb: decibel(power(0, LINE_RATE_HZ / 2)),
  };
}

function binHz(): number {
  return LINE_RATE_HZ / FRAME;
}

function isIn(bin: number, fromHz: number, toHz: number): boolean {
  return bin * binHz() >= fromHz && bin * binHz() < toHz;
}

/** Mean power of the frames with speech in each bin, as a part of full scale. */
function densityOf(samples: Int16Array): readonly number[] {
  const sums = new Float64Array(FRAME / 2);
  const window = Float64Array.from({ length: FRAME }, (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / FRAME));
  let frames = 0;
  for (let start = 0; start + FRAME <= samples.length; start += FRAME) {
    const frame = samples.subarray(start, start + FRAME);
    if (Math.sqrt(frame.reduce((sum, sample) => sum + sample * sample, 0) / FRAME) < PAUSE_RMS) continue;
    frames += 1;
    for (const bin of sums.keys()) sums[bin] = (sums[bin] ?? 0) + powerAt(bin, frame, window);
  }
  // The window takes 3/8 of the power; the other half of the spectrum mirrors this one.
  const scale = 2 / (frames * FRAME ** 2 * (3 / 8) * 0x7fff ** 2);
  return [...sums].map((sum) => sum * scale);
}

function powerAt(bin: number, frame: Int16Array, window: Float64Array): number {
  let [real, imaginary] = [0, 0];
  for (const [index, sample] of frame.entries()) {
    const angle = (2 * Math.PI * bin * index) / FRAME;
    const value = sample * (window[index] ?? 0);
    real += value * Math.cos(angle);
    imaginary -= value * Math.sin(angle);
  }
  return real ** 2 + imaginary ** 2;
}
