// Callers announce their words together with the audio, so that a fake recognizer understands what was really spoken: in any number of
// parallel calls, in an interrupted sentence, and in an utterance of several sentences.
import { z } from 'zod';
import { FRAME_SAMPLES } from '../../speech/audio-format.ts';
import { decodeMulaw, encodeMulaw } from '../../speech/g711.ts';
import { hasVoice } from '../caller/microphone.ts';

/** An announcement: the body of a request to `/v1/said`. */
export const SAID = z.strictObject({ words: z.string().min(1).max(10_000), mulaw: z.base64() });
export type Said = z.infer<typeof SAID>;

interface KnownSound {
  readonly words: string;
  readonly mulaw: Buffer;
}

/** A part of a recording that equals a part of a known sound. */
interface Match {
  readonly known: KnownSound;
  /** First byte in the known sound, and the first byte after the match. */
  readonly from: number;
  readonly to: number;
  /** First byte of the match in the recording. */
  readonly at: number;
}

/** Most known sounds; the oldest are dropped. */
const MAX_SOUNDS = 1000;
/** Length of the parts of a known sound that are searched in a recording, bytes: 50 ms. A part begins every 100 ms. */
const PROBE_BYTES = 400;
const PROBE_EVERY_BYTES = 800;

export class SaidWords {
  #known: KnownSound[] = [];

  get isEmpty(): boolean {
    return this.#known.length === 0;
  }

  add({ words, mulaw: text }: Said): void {
    const mulaw = sameZeros(Buffer.from(text, 'base64'));
    this.#known = [...this.#known.filter((known) => !known.mulaw.equals(mulaw)), { words, mulaw }].slice(-MAX_SOUNDS);
  }

  /**
   * The words in a recording; undefined: no known sound is in it. Where words begin is an estimate, so an interrupted sentence may have one
   * word more or less.
   * @param mulaw - G.711 µ-law, 8 kHz.
   */
  in(mulaw: Uint8Array): string | undefined {
    const words = this.#wordsIn(sameZeros(mulaw));
    return words.length === 0 ? undefined : words.join(' ');
  }

  #wordsIn(recording: Buffer): readonly string[] {
    const match = this.#longestIn(recording);
    if (match === undefined) return [];
    const { at, from, to } = match;
    return [...this.#wordsIn(recording.subarray(0, at)), ...wordsOf(match), ...this.#wordsIn(recording.subarray(at + to - from))];
  }

  #longestIn(recording: Buffer): Match | undefined {
    let longest: Match | undefined;
    for (const known of this.#known) {
      for (let probe = 0; probe + PROBE_BYTES <= known.mulaw.length; probe += PROBE_EVERY_BYTES) {
        const match = matchAt(known, probe, recording);
        if (match === undefined) continue;
        // Of sentences that begin alike, the one with the longest match was spoken; of equal sounds, the last one announced.
        if (longest === undefined || match.to - match.from >= longest.to - longest.from) longest = match;
        probe = Math.max(probe, match.to - PROBE_EVERY_BYTES);
      }
    }
    return longest;
  }
}

function matchAt(known: KnownSound, probe: number, recording: Buffer): Match | undefined {
  const { mulaw } = known;
  const piece = mulaw.subarray(probe, probe + PROBE_BYTES);
  const found = hasVoice(piece) ? recording.indexOf(piece) : -1;
  if (found < 0) return undefined;
  let [from, at, to] = [probe, found, probe + PROBE_BYTES];
  const shift = found - probe;
  while (from > 0 && at > 0 && mulaw[from - 1] === recording[at - 1]) [from, at] = [from - 1, at - 1];
  while (to < mulaw.length && to + shift < recording.length && mulaw[to] === recording[to + shift]) to += 1;
  return { known, from, to, at };
}

/** The words whose middle is in the matched part, if every character takes the same time. */
function wordsOf({ known: { words, mulaw }, from, to }: Match): readonly string[] {
  const frames = Array.from({ length: Math.ceil(mulaw.length / FRAME_SAMPLES) }, (_, index) => index * FRAME_SAMPLES);
  const voiced = frames.filter((start) => hasVoice(mulaw.subarray(start, start + FRAME_SAMPLES)));
  const [begin = 0, last = 0] = [voiced[0], voiced.at(-1)];
  const perCharacter = (last + FRAME_SAMPLES - begin) / words.length;
  return [...words.matchAll(/\S+/gu)]
    .filter(({ 0: word, index }) => {
      const middle = begin + (index + word.length / 2) * perCharacter;
      return middle >= from && middle <= to;
    })
    .map(([word]) => word);
}

/** µ-law has two codes for zero; 16-bit samples have one. Both sides must use the same code. */
function sameZeros(mulaw: Uint8Array): Buffer {
  return Buffer.from(encodeMulaw(decodeMulaw(mulaw)));
}
