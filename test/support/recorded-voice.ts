// A voice for small corpora that reads every text from the recordings of test/fixtures/speech: a word, a few digits, or a
// sentence, by the length of the text. Needs no synthesizer and takes no time.
import { decodeMulaw } from '../../src/speech/g711.ts';
import type { Sound } from '../../scripts/speech-sounds.ts';
import type { Voice } from '../../scripts/speech-voices.ts';
import { recorded } from './line-signals.ts';
import { speechBounds } from './listening.ts';

/** From the first to the last sound of a recording. */
function spoken(name: Parameters<typeof recorded>[0], fromMs = 0, toMs = Infinity): Sound {
  const mulaw = recorded(name);
  const { startMs, endMs } = speechBounds(mulaw);
  const part = mulaw.subarray(Math.max(startMs, fromMs) * 8, Math.min(endMs, toMs) * 8);
  return Float64Array.from(decodeMulaw(part), (sample) => sample / 32_768);
}

/** "… zero six one, …": three digits between two pauses of the recording. */
const DIGITS_MS = [1000, 2200] as const;

export const recordedVoice: Voice = {
  name: 'recorded',
  read: (texts) =>
    Promise.resolve(
      texts.map((text) => {
        const words = text.split(' ').length;
        if (words <= 2) return spoken('yes');
        return words <= 4 ? spoken('number', ...DIGITS_MS) : spoken('sentence');
      }),
    ),
};
