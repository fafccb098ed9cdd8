// Brings synthesized speech to one loudness and takes the silence off its ends. Works on whole prompts of 8 kHz samples
// (voice-level does the same for speech that arrives in pieces); knows nothing of where they come from.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';

/** Silence left before the first sound, ms: soft onsets lie below the threshold. */
export const LEAD_MS = 50;
/** Silence left after the last sound, ms. */
export const TAIL_MS = 100;
/** A sample counts as sound from this part of the loudest sample on. */
const SOUND_PART = 0.01;
/** Loudness of the sounding parts, as a part of full scale: -20 dB, what a telephone voice is expected to have. */
export const SPEECH_RMS = 0.1;
/** Loudest sample that levelling may make, as a part of full scale (-3 dB): far from clipping. */
export const PEAK_CEILING = 0.7;
/** Most that is added: a text of one soft sound is not blown up. */
export const MAX_GAIN = 4;
const FRAME_SAMPLES = LINE_RATE_HZ / 50;
/** Frames this much below the loudest frame (-30 dB in power) are pauses and do not count for the loudness. */
const PAUSE_PART = 0.001;
/** The largest sample. */
export const FULL_SCALE = 0x7fff;

/** The samples between first and last sound, with a little silence around them; empty when there is no sound at all. */
export function trimmed(samples: Int16Array): Int16Array {
  const peak = peakOf(samples);
  if (peak === 0) return new Int16Array(0);
  const threshold = peak * SOUND_PART;
  const first = samples.findIndex((sample) => Math.abs(sample) >= threshold);
  const last = samples.findLastIndex((sample) => Math.abs(sample) >= threshold);
  const from = first - samplesOf(LEAD_MS);
  const to = last + 1 + samplesOf(TAIL_MS);
  // What the ends lack of silence is added, so that prompts played one after the other keep the same distance.
  const result = new Int16Array(to - from);
  const start = Math.max(0, from);
  result.set(samples.subarray(start, Math.min(samples.length, to)), start - from);
  return result;
}

/** The samples at the loudness of a telephone voice, without clipping. A new array. */
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
