// The lines that a page may choose, by name.
import { seededNumbers } from '../../base/seeded-numbers.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import type { HeldCallOptions } from '../caller/caller.ts';
import type { LineQuality } from './softphone-api.ts';

/** Root mean square of the noise, of full scale: as on a busy street, 36 dB below it. */
const NOISE_RMS = 0.016;
const NOISE_SECONDS = 5;

type Quality = Pick<HeldCallOptions, 'conditions' | 'noise'>;

export const LINE_QUALITIES: Readonly<Record<LineQuality, () => Quality>> = {
  good: () => ({}),
  jitter: () => ({ conditions: { jitterMs: 150 } }),
  bursts: () => ({ conditions: { burstMs: 400 } }),
  'slow reader': () => ({ conditions: { slowReader: { pauseMs: 3000 } } }),
  noise: () => ({ noise: noise() }),
  'breaks off': () => ({ conditions: { loseAfterMs: 20_000 } }),
};

function noise(): Int16Array {
  const draw = seededNumbers(1);
  const peak = NOISE_RMS * Math.sqrt(3) * 32_767;
  return Int16Array.from({ length: NOISE_SECONDS * LINE_RATE_HZ }, () => Math.round((draw() * 2 - 1) * peak));
}
