// Facts about sound that was heard: whether it is clipped, how long it is quiet in the middle, and whether it is the one
// that was known, sample by sample. Each looks at a sample once and keeps none of them. Knows no call.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';

/** Facts about one piece of sound. Places and lengths are ms of the sound itself. */
export interface SoundFacts {
  readonly lengthMs: number;
  /** Runs of at least {@link CLIP_SAMPLES} samples at full scale. */
  readonly clips: number;
  /** The longest of them. */
  readonly longestClipMs: number;
  /** Where the first of them begins; undefined without any. */
  readonly firstClipAtMs: number | undefined;
  /** The longest time without a sound between two sounds; silence before the first and after the last is none. */
  readonly longestQuietMs: number;
  /** Where it begins; undefined when nothing is quiet in the middle. */
  readonly longestQuietAtMs: number | undefined;
}

/** How heard sound differs from known sound. All in samples. */
export interface SoundDifference {
  /** The first sample that is not as known, counted from 0. */
  readonly firstDifference: number;
  /** Known samples that were not heard. */
  readonly missing: number;
  /** Heard samples that are not known. A sample that was replaced counts as missing and as extra. */
  readonly extra: number;
}

/** The loudest value of µ-law; 16-bit audio goes up to 32 767. */
const FULL_SCALE = 32_124;
/** As many samples in a row at full scale are a wave whose top was cut off. */
const CLIP_SAMPLES = 3;
/** Below this, 42 dB under full scale, nobody hears anything on a phone. */
const QUIET_BELOW = 256;
const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** Takes sound piece by piece, 8 kHz, and has the facts about all of it so far. */
export class SoundMeter {
  #samples = 0;
  #clips = 0;
  #clipRun = 0;
  #clipSign = 0;
  #longestClip = 0;
  #firstClip: number | undefined;
  /** The sample behind the last loud one; undefined before the first. */
  #quietFrom: number | undefined;
  #longestQuiet = 0;
  #longestQuietAt: number | undefined;

  /** Takes the next piece. */
  push(samples: Int16Array): void {
    for (const sample of samples) {
      this.#takeLoudness(sample);
      this.#takePeak(sample);
      this.#samples += 1;
    }
  }

  /** The facts so far. */
  get facts(): SoundFacts {
    return {
      lengthMs: this.#samples / SAMPLES_PER_MS,
      clips: this.#clips,
      longestClipMs: this.#longestClip / SAMPLES_PER_MS,
      firstClipAtMs: this.#firstClip === undefined ? undefined : this.#firstClip / SAMPLES_PER_MS,
      longestQuietMs: this.#longestQuiet / SAMPLES_PER_MS,
      longestQuietAtMs: this.#longestQuietAt === undefined ? undefined : this.#longestQuietAt / SAMPLES_PER_MS,
    };
  }

  #takeLoudness(sample: number): void {
    if (sample > -QUIET_BELOW && sample < QUIET_BELOW) return;
    const quiet = this.#samples - (this.#quietFrom ?? this.#samples);
    if (quiet > this.#longestQuiet) {
      this.#longestQuiet = quiet;
      this.#longestQuietAt = this.#quietFrom;
    }
    this.#quietFrom = this.#samples + 1;
  }

  #takePeak(sample: number): void {
    const sign = sample >= FULL_SCALE ? 1 : sample <= -FULL_SCALE ? -1 : 0;
    this.#clipRun = sign !== 0 && sign === this.#clipSign ? this.#clipRun + 1 : Math.abs(sign);
    this.#clipSign = sign;
    if (this.#clipRun < CLIP_SAMPLES) return;
    if (this.#clipRun === CLIP_SAMPLES) this.#clips += 1;
    this.#firstClip ??= this.#samples + 1 - CLIP_SAMPLES;
    this.#longestClip = Math.max(this.#longestClip, this.#clipRun);
  }
}

/** The facts about one piece of sound, 8 kHz. */
export function soundFacts(samples: Int16Array): SoundFacts {
  const meter = new SoundMeter();
  meter.push(samples);
  return meter.facts;
}

/**
 * What is between the first and the last difference of two sounds; undefined when they are the same. One stretch is
 * found: of two lost pieces, what lies between them counts as missing and as extra.
 *
 * @param heard - one sound, or its pieces in their order.
 */
export function soundDifference(heard: Int16Array | readonly Int16Array[], known: Int16Array): SoundDifference | undefined {
  const pieces = heard instanceof Int16Array ? [heard] : heard;
  const total = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const same = sameFromStart(pieces, known);
  if (same === total && same === known.length) return undefined;
  const sameBehind = sameFromEnd(pieces, known, Math.min(total, known.length) - same);
  return { firstDifference: same, missing: known.length - same - sameBehind, extra: total - same - sameBehind };
}

function sameFromStart(pieces: readonly Int16Array[], known: Int16Array): number {
  let at = 0;
  for (const piece of pieces) {
    for (const sample of piece) {
      if (at >= known.length || sample !== known[at]) return at;
      at += 1;
    }
  }
  return at;
}

/** @param most - where to stop: what is the same from the start must not count twice. */
function sameFromEnd(pieces: readonly Int16Array[], known: Int16Array, most: number): number {
  let same = 0;
  for (let place = pieces.length - 1; place >= 0; place -= 1) {
    const piece = pieces[place] ?? known;
    for (let index = piece.length - 1; index >= 0; index -= 1) {
      if (same >= most || piece[index] !== known[known.length - 1 - same]) return same;
      same += 1;
    }
  }
  return same;
}

/** How much of a known sound must be found for it to be there, samples: 20 ms, not more than a frame. */
const ANCHOR_SAMPLES = 160;

/**
 * Where a known sound begins in what was heard, samples; undefined when it does not. Its first 20 ms from its first loud
 * sample on decide, so that a sound which breaks off later is found, too.
 *
 * @param from - the first sample to look at.
 */
export function findSound(heard: Int16Array, known: Int16Array, from = 0): number | undefined {
  const loud = known.findIndex((sample) => Math.abs(sample) >= QUIET_BELOW);
  if (loud === -1) return undefined;
  const [all, anchor] = [bytesOf(heard), bytesOf(known.subarray(loud, loud + ANCHOR_SAMPLES))];
  const size = Int16Array.BYTES_PER_ELEMENT;
  // Its first loud sample cannot come before it can begin, and stands on a whole sample.
  let at = all.indexOf(anchor, (from + loud) * size);
  while (at !== -1 && at % size !== 0) at = all.indexOf(anchor, at + 1);
  return at === -1 ? undefined : at / size - loud;
}

function bytesOf({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
