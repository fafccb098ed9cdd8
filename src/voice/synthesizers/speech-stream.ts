// Converts a service's speech for the line: bytes in, pieces of µ-law out. Trims both ends, resamples to 8 kHz,
// levels the loudness, and decides the size of each piece. Synchronous; knows nothing of requests.
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { encodeMulaw } from '../../speech/g711.ts';
import type { CreateResampler, Resampler } from '../../speech/resample.ts';
import { MAX_PROMPT_MS } from '../prompt-audio.ts';
import { AudioBytes } from './audio-bytes.ts';
import { FULL_SCALE, LEAD_MS, TAIL_MS } from './loudness.ts';
import { TextLevel, type VoiceLevel } from './voice-level.ts';

/** Speech in the first piece, ms: long enough to last until the second, short enough to start early. */
const FIRST_PIECE_MS = 200;
/** Speech in the longest piece, ms. Each piece is twice as long as the previous one: fewer messages, no later start. */
const LONGEST_PIECE_MS = 1600;
/** Shortest piece that is sent early to avoid a gap, ms. */
const SHORTEST_PIECE_MS = 60;
/** The next piece is sent early when less than this is left to play, ms. */
const HURRY_MS = 200;
/** Longest pause inside a text, ms; longer ones are cut. */
const LONGEST_PAUSE_MS = 3000;
/** Samples below this fraction of full scale (-46 dB) are silence. */
const SILENCE = 0.005 * FULL_SCALE;

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

export interface SpeechStreamOptions {
  /** Rate of samples that come without a header, Hz. */
  readonly rateHz: number;
  readonly createResampler: CreateResampler;
  readonly level: VoiceLevel;
  readonly clock: Clock;
  /** Called with each piece; µ-law, 8 kHz. */
  readonly onPiece: (mulaw: Uint8Array) => void;
}

/** The speech of one text. The creator closes it. */
export class SpeechStream {
  readonly #options: SpeechStreamOptions;
  readonly #bytes: AudioBytes;
  readonly #level: TextLevel;
  readonly #pieces: Uint8Array[] = [];
  #resampler: Resampler | undefined;
  /** Speech not emitted yet. */
  #speech = new Int16Array(0);
  /** Silence since the last sound; before the first sound no longer than the lead. */
  #silence = new Int16Array(0);
  #hasSounded = false;
  #heardSamples = 0;
  #passedOnSamples = 0;
  #nextMs = FIRST_PIECE_MS;
  #firstAtMs = 0;

  constructor(options: SpeechStreamOptions) {
    this.#options = options;
    this.#bytes = new AudioBytes(options.rateHz);
    this.#level = new TextLevel(options.level);
  }

  /** Speech and silence received so far, ms. */
  get arrivedMs(): number {
    return this.#heardSamples / SAMPLES_PER_MS;
  }

  /**
   * Takes the next bytes and emits the pieces that are due.
   *
   * @throws AppError `unsupported_audio` or `prompt_unusable` for bytes that are not audio, `overloaded` without
   * memory.
   */
  push(bytes: Uint8Array): void {
    this.#hear(this.#atLineRate(this.#bytes.push(bytes)));
    if (this.#isDue()) this.#passOn();
  }

  /**
   * Emits the rest.
   *
   * @returns all pieces as one; empty without any sound.
   * @throws AppError as {@link push}.
   */
  end(): Uint8Array {
    this.#hear(this.#atLineRate(this.#bytes.end()));
    if (this.#resampler !== undefined) this.#hear(this.#resampler.flush());
    if (this.#hasSounded) {
      this.#speech = joined(this.#speech, resized(this.#silence, TAIL_MS * SAMPLES_PER_MS));
      this.#passOn();
      this.#options.level.textSpoken();
    }
    const whole = new Uint8Array(this.#passedOnSamples);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  /** Frees the resampler; `push` must not be called afterwards. */
  close(): void {
    this.#resampler?.close();
  }

  #atLineRate(samples: Int16Array): Int16Array {
    const { sampleRateHz } = this.#bytes;
    if (samples.length === 0 || sampleRateHz === LINE_RATE_HZ) return samples;
    this.#resampler ??= this.#options.createResampler(sampleRateHz, LINE_RATE_HZ);
    return this.#resampler.push(samples);
  }

  #hear(samples: Int16Array): void {
    this.#heardSamples += samples.length;
    if (this.arrivedMs > MAX_PROMPT_MS) throw new AppError('unsupported_audio', 'the speech is longer than five minutes');
    const last = samples.findLastIndex(isSound);
    if (last === -1) {
      const keptMs = this.#hasSounded ? LONGEST_PAUSE_MS : LEAD_MS;
      this.#silence = lastOf(joined(this.#silence, samples), keptMs * SAMPLES_PER_MS);
      return;
    }
    if (this.#hasSounded) this.#speech = joined(this.#speech, this.#silence, samples.subarray(0, last + 1));
    else this.#begin(samples.subarray(0, last + 1));
    this.#hasSounded = true;
    this.#silence = samples.slice(last + 1);
  }

  /** Puts exactly the lead before the first sound, so that consecutive prompts have equal pauses. */
  #begin(samples: Int16Array): void {
    const first = samples.findIndex(isSound);
    const before = lastOf(joined(this.#silence, samples.subarray(0, first)), LEAD_MS * SAMPLES_PER_MS);
    const missing = new Int16Array(LEAD_MS * SAMPLES_PER_MS - before.length);
    this.#speech = joined(missing, before, samples.subarray(first));
  }

  #isDue(): boolean {
    const readyMs = this.#speech.length / SAMPLES_PER_MS;
    if (readyMs >= this.#nextMs) return true;
    if (this.#passedOnSamples === 0 || readyMs < SHORTEST_PIECE_MS) return false;
    const playedMs = this.#options.clock.monotonicMs() - this.#firstAtMs;
    return this.#passedOnSamples / SAMPLES_PER_MS - playedMs < HURRY_MS;
  }

  #passOn(): void {
    if (this.#passedOnSamples === 0) this.#firstAtMs = this.#options.clock.monotonicMs();
    this.#level.level(this.#speech);
    const piece = encodeMulaw(this.#speech);
    this.#speech = new Int16Array(0);
    this.#passedOnSamples += piece.length;
    this.#nextMs = Math.min(this.#nextMs * 2, LONGEST_PIECE_MS);
    this.#pieces.push(piece);
    this.#options.onPiece(piece);
  }
}

function isSound(sample: number): boolean {
  return Math.abs(sample) >= SILENCE;
}

function joined(...parts: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The last `count` samples, or all when there are fewer. */
function lastOf(samples: Int16Array, count: number): Int16Array<ArrayBuffer> {
  return samples.slice(Math.max(0, samples.length - count));
}

/** Exactly `count` samples, filled up with silence. */
function resized(samples: Int16Array, count: number): Int16Array {
  const exact = new Int16Array(count);
  exact.set(samples.subarray(0, count));
  return exact;
}
