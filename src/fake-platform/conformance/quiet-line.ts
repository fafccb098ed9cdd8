// A telephone line on which nobody speaks: digital silence, and the noise of a line. Knows no wire and no rule.
import { MULAW_BYTES_PER_MS } from '../../speech/audio-format.ts';
import { encodeMulaw, MULAW_SILENCE } from '../../speech/g711.ts';

/** How long nobody speaks, ms of audio: longer than any detector needs to adapt to the line. */
const QUIET_MS = 4000;
/** Root mean square of the noise, as a part of full scale: -55 dBFS, which callers hardly hear. */
const NOISE_LEVEL = 10 ** (-55 / 20);

/** Silence of `ms`, µ-law at 8 kHz. */
export function silenceOf(ms: number): Uint8Array {
  return new Uint8Array(Math.round(ms * MULAW_BYTES_PER_MS)).fill(MULAW_SILENCE);
}

/** A line without speech: its name for messages, and its audio, µ-law at 8 kHz. */
export interface QuietLine {
  readonly what: string;
  readonly mulaw: Uint8Array;
}

/** Both lines, in the order in which checks use them. The noise is the same in every run. */
export const QUIET_LINES: readonly QuietLine[] = [
  { what: `${String(QUIET_MS)} ms of silence`, mulaw: silenceOf(QUIET_MS) },
  { what: `${String(QUIET_MS)} ms of line noise at -55 dBFS`, mulaw: whiteNoise(QUIET_MS * MULAW_BYTES_PER_MS) },
];

function whiteNoise(samples: number): Uint8Array {
  // Peak of uniformly distributed values: RMS × √3.
  const peak = NOISE_LEVEL * Math.sqrt(3) * 32_767;
  let state = 1;
  return encodeMulaw(
    Int16Array.from({ length: samples }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.round(((state / 2 ** 32) * 2 - 1) * peak);
    }),
  );
}
