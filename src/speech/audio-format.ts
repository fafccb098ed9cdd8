// The formats that caller audio may have, and how the format of a call is remembered. Synchronous, no wire, no telephony beyond
// the words encoding and rate.
import { AppError } from '../base/errors.ts';

/** Sample rate of everything Parley works on and sends, Hz. */
export const LINE_RATE_HZ = 8000;
/** Length of one frame of the line, ms. */
export const FRAME_MS = 20;
/** Samples (and µ-law bytes) in one frame of the line. */
export const FRAME_SAMPLES = (LINE_RATE_HZ * FRAME_MS) / 1000;
/** µ-law bytes per ms of the line. */
export const MULAW_BYTES_PER_MS = LINE_RATE_HZ / 1000;

/** How samples are coded. */
export type SampleEncoding = 'linear16' | 'mulaw' | 'alaw';

/** Encoding and sample rate of an audio stream; always mono. */
export interface AudioFormat {
  readonly encoding: SampleEncoding;
  readonly sampleRateHz: number;
}

/** The format of a frame without encoding and rate, as long as the call has named none (G-32). */
export const FALLBACK_FORMAT: AudioFormat = { encoding: 'mulaw', sampleRateHz: LINE_RATE_HZ };

/** Rates Parley decodes (G-31), Hz. */
export const DECODABLE_RATES_HZ: readonly number[] = [8000, 16000];

/**
 * The format of a frame: what the frame names, else what the call named last (G-32). Returns `remembered` itself when
 * nothing changed, so that the calling code can compare by identity.
 *
 * @throws AppError `unsupported_audio` for a rate outside {@link DECODABLE_RATES_HZ}.
 */
export function nextFormat(
  remembered: AudioFormat,
  named: { readonly encoding?: SampleEncoding; readonly sampleRateHz?: number },
): AudioFormat {
  const encoding = named.encoding ?? remembered.encoding;
  const sampleRateHz = named.sampleRateHz ?? remembered.sampleRateHz;
  if (encoding === remembered.encoding && sampleRateHz === remembered.sampleRateHz) return remembered;
  if (!DECODABLE_RATES_HZ.includes(sampleRateHz)) {
    throw new AppError('unsupported_audio', `caller audio at ${String(sampleRateHz)} Hz cannot be decoded; 8000 and 16000 Hz can`, {
      details: { sampleRateHz },
    });
  }
  return { encoding, sampleRateHz };
}
