// Converts the bytes of a prompt to samples of the line. The bytes are headerless µ-law, or a WAV of any kind that the
// contract allows (G-31, G-48). Does not judge whether the server used the right form.
import { AppError } from '../../base/errors.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { decodeMulaw } from '../../speech/g711.ts';
import { readWav, startsAsWav } from '../../speech/wav.ts';

/** Resamples a whole piece of 16-bit mono audio; rates in Hz. */
export type ChangeRate = (samples: Int16Array, fromHz: number, toHz: number) => Int16Array;

/**
 * The samples of a prompt at 8 kHz.
 *
 * @param changeRate - needed only for a WAV at another rate.
 * @throws AppError `prompt_unusable` when the WAV cannot be read, or needs `changeRate` and none is given; errors of `changeRate`.
 */
export function promptSound(audio: Uint8Array, changeRate?: ChangeRate): Int16Array {
  return startsAsWav(audio) ? wavSound(audio, changeRate) : decodeMulaw(audio);
}

/**
 * The samples of a WAV at 8 kHz.
 *
 * @param changeRate - needed only for another rate.
 * @throws AppError `prompt_unusable` when the WAV cannot be read, or needs `changeRate` and none is given; errors of `changeRate`.
 */
export function wavSound(wav: Uint8Array, changeRate?: ChangeRate): Int16Array {
  const { samples, sampleRateHz } = readWav(wav);
  if (sampleRateHz === LINE_RATE_HZ) return samples;
  if (changeRate === undefined) {
    throw new AppError('prompt_unusable', `the WAV has ${String(sampleRateHz)} Hz and no resampler was given to play it`, {
      details: { sampleRateHz },
    });
  }
  return changeRate(samples, sampleRateHz, LINE_RATE_HZ);
}
