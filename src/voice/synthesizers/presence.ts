// Amplifies what telephone speech needs most to be understood: consonants, above 1 kHz. A high shelf of second order (R.
// Bristow-Johnson, Audio EQ Cookbook), on whole prompts of 8 kHz samples.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { FULL_SCALE } from './loudness.ts';

/** Frequency at which half of the gain is reached, Hz. */
const CORNER_HZ = 1000;

/** The samples with everything above {@link CORNER_HZ} raised by `gainDb`; quieter where they would clip. A new array. */
export function withPresence(samples: Int16Array, gainDb: number): Int16Array {
  if (gainDb === 0) return samples.slice();
  const raised = shelved(samples, gainDb);
  const peak = raised.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const scale = Math.min(1, FULL_SCALE / peak);
  return Int16Array.from(raised, (sample) => Math.round(sample * scale));
}

function shelved(samples: Int16Array, gainDb: number): Float64Array {
  const amplitude = 10 ** (gainDb / 40);
  const angle = (2 * Math.PI * CORNER_HZ) / LINE_RATE_HZ;
  const cosine = Math.cos(angle);
  // Slope 1: as steep as a shelf can be without a bump.
  const width = Math.sqrt(2 * amplitude) * Math.sin(angle);
  const [more, less] = [amplitude + 1, amplitude - 1];
  const a0 = more - less * cosine + width;
  const [a1, a2] = [(2 * (less - more * cosine)) / a0, (more - less * cosine - width) / a0];
  const scale = amplitude / a0;
  const [b0, b1, b2] = [
    scale * (more + less * cosine + width),
    -2 * scale * (less + more * cosine),
    scale * (more + less * cosine - width),
  ];
  const shelf = new Float64Array(samples.length);
  let [in1, in2, out1, out2] = [0, 0, 0, 0];
  for (const [index, sample] of samples.entries()) {
    const out = b0 * sample + b1 * in1 + b2 * in2 - a1 * out1 - a2 * out2;
    shelf[index] = out;
    [in2, in1, out2, out1] = [in1, sample, out1, out];
  }
  return shelf;
}
