// Facts about sound that was heard: whether it clips, and how long it is silent in the middle. Keeps no sample. Knows no call.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';

/** Facts about one piece of sound. Positions are ms since the sound began, lengths are ms. */
export interface SoundFacts {
  readonly lengthMs: number;
  /** Number of runs of at least {@link CLIP_SAMPLES} samples at full scale. */
  readonly clips: number;
  /** Length of the longest clip, ms. */
  readonly longestClipMs: number;
  /** Start of the first clip; undefined when nothing clips. */
  readonly firstClipAtMs: number | undefined;
  /** Length of the longest silence between two sounds. Silence before the first and after the last does not count. */
  readonly longestQuietMs: number;
  /** Start of the longest silence; undefined when there is none between two sounds. */
  readonly longestQuietAtMs: number | undefined;
}

/** The loudest value of µ-law; 16-bit audio goes up to 32 767. */
const FULL_SCALE = 32_124;
/** This many samples in a row at full scale are a wave whose top was cut off. */
const CLIP_SAMPLES = 3;
/** Samples below this value, 42 dB under full scale, are inaudible on a phone. */
const QUIET_BELOW = 256;
const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** Takes sound piece by piece, 8 kHz, and keeps the facts about all pieces so far. */
export class SoundMeter {
  #samples = 0;
  #clips = 0;
  #clipRun = 0;
  #clipSign = 0;
  #longestClip = 0;
  #firstClip: number | undefined;
  /** Index of the sample after the last loud one; undefined before the first loud one. */
  #quietFrom: number | undefined;
  #longestQuiet = 0;
  #longestQuietAt: number | undefined;

  push(samples: Int16Array): void {
    for (const sample of samples) {
      this.#takeLoudness(sample);
      this.#takePeak(sample);
      this.#samples += 1;
    }
  }

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
