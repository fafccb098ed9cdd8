// Brings synthesized speech to one loudness and trims the silence at its ends. Works on whole prompts of 8 kHz
// samples; voice-level does the same for pieces.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';

/** Silence kept before the first sound, ms: soft onsets are below the threshold. */
export const LEAD_MS = 50;
/** Silence kept after the last sound, ms. */
export const TAIL_MS = 100;
/** Samples of at least this fraction of the loudest one count as sound. */
const SOUND_PART = 0.01;
/** Target loudness of speech, as a fraction of full scale: -20 dB, usual on telephone lines. */
export const SPEECH_RMS = 0.1;
/** Loudest sample after levelling, as a fraction of full scale (-3 dB). */
export const PEAK_CEILING = 0.7;
/** Largest gain: a single soft sound is not amplified without limit. */
export const MAX_GAIN = 4;
const FRAME_SAMPLES = LINE_RATE_HZ / 50;
/** Frames below this fraction of the loudest frame's power (-30 dB) are pauses, which the measurement of loudness leaves out. */
const PAUSE_PART = 0.001;
/** The largest sample. */
export const FULL_SCALE = 0x7fff;

/**
 * The samples from the first to the last sound with LEAD_MS and TAIL_MS of silence around them; empty without any
 * sound.
 */
export function trimmed(samples: Int16Array): Int16Array {
  const peak = peakOf(samples);
  if (peak === 0) return new Int16Array(0);
  const threshold = peak * SOUND_PART;
  const first = samples.findIndex((sample) => Math.abs(sample) >= threshold);
  const last = samples.findLastIndex((sample) => Math.abs(sample) >= threshold);
  const from = first - samplesOf(LEAD_MS);
  const to = last + 1 + samplesOf(TAIL_MS);
  // Missing silence is added, so that consecutive prompts have equal pauses.
  const result = new Int16Array(to - from);
  const start = Math.max(0, from);
  result.set(samples.subarray(start, Math.min(samples.length, to)), start - from);
  return result;
}

/** The samples scaled to {@link SPEECH_RMS}, without clipping. A new array. */
export function levelled(samples: Int16Array): Int16Array {
  const peak = peakOf(samples);
  if (peak === 0) return samples.slice();
  const wanted = Math.min((SPEECH_RMS * FULL_SCALE) / speechRms(samples), (PEAK_CEILING * FULL_SCALE) / peak);
  const gain = Math.min(MAX_GAIN, wanted);
  return samples.map((sample) => Math.round(sample * gain));
}

/** Root mean square of the frames that carry speech. */
function speechRms(samples: Int16Array): number {
  const powers: number[] = [];
  for (let start = 0; start < samples.length; start += FRAME_SAMPLES) {
    const frame = samples.subarray(start, start + FRAME_SAMPLES);
    powers.push(frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length);
  }
  const loudest = powers.reduce((most, power) => Math.max(most, power), 0);
  const speech = powers.filter((power) => power >= loudest * PAUSE_PART);
  return Math.sqrt(speech.reduce((sum, power) => sum + power, 0) / speech.length);
}

/** The largest magnitude among the samples. */
export function peakOf(samples: Int16Array): number {
  let most = 0;
  for (const sample of samples) most = Math.max(most, Math.abs(sample));
  return most;
}

function samplesOf(durationMs: number): number {
  return (durationMs * LINE_RATE_HZ) / 1000;
}
