// Turns the bytes of a caller's messages into 8 kHz frames, whatever the encoding, rate, header and size. Does not detect
// speech; a frame goes to one receiver as soon as it is full.
import { AppError } from '../base/errors.ts';
import { DECODABLE_RATES_HZ, FRAME_SAMPLES, LINE_RATE_HZ, type AudioFormat, type SampleEncoding } from './audio-format.ts';
import { ALAW_TO_LINEAR, decodeMulaw, LINEAR_TO_MULAW, MULAW_SILENCE, MULAW_TO_LINEAR } from './g711.ts';
import type { CreateResampler, Resampler } from './resample.ts';
import { readWavLayout, startsAsWav, type WavCoding, type WavLayout } from './wav.ts';

/** Takes one frame of 20 ms. Both arrays are valid during this call only: they are reused, or views of the message. */
export type FrameReceiver = (pcm: Int16Array, mulaw: Uint8Array) => void;

/** The encodings that a caller may use, by their names in a WAV header (G-31). */
const ENCODING_OF_WAV = {
  pcm8: undefined,
  pcm16: 'linear16',
  pcm24: undefined,
  mulaw: 'mulaw',
  alaw: 'alaw',
} as const satisfies Record<WavCoding, SampleEncoding | undefined>;

/** Bytes of caller audio in, frames out. Allocates nothing per message for 8 kHz audio. */
export class CallerAudio {
  readonly #createResampler: CreateResampler;
  readonly #receive: FrameReceiver;
  readonly #pcm = new Int16Array(FRAME_SAMPLES);
  readonly #mulaw = new Uint8Array(FRAME_SAMPLES);
  #filled = 0;
  /** The format that the call named, and below it the one of a WAV header, which replaces it. */
  #named: AudioFormat | undefined;
  #header: AudioFormat | undefined;
  /** Bytes of samples that are still to come according to the header. */
  #headerBytesLeft = 0;
  #decoding: AudioFormat | undefined;
  /** The low byte of a 16-bit sample whose high byte comes with the next message. */
  #oddByte: number | undefined;
  #resampler: Resampler | undefined;
  #wide = new Int16Array(0);

  constructor(createResampler: CreateResampler, receive: FrameReceiver) {
    this.#createResampler = createResampler;
    this.#receive = receive;
  }

  /**
   * Takes the bytes of one message, of any size. A WAV header at the start of a message sets the format of this message and the
   * following ones, until the samples that it announces are over or the call names another format (G-31).
   *
   * @throws AppError `unsupported_audio` for a rate or a header that cannot be decoded; the message is dropped then.
   */
  push(audio: Uint8Array, format: AudioFormat): void {
    if (this.#named?.encoding !== format.encoding || this.#named.sampleRateHz !== format.sampleRateHz) {
      this.#header = undefined;
      this.#named = format;
    }
    let start = 0;
    if (startsAsWav(audio)) start = this.#readHeader(audio);
    if (this.#header === undefined) {
      this.#decode(audio, start, audio.length, format);
      return;
    }
    const end = Math.min(audio.length, start + this.#headerBytesLeft);
    this.#headerBytesLeft -= end - start;
    this.#decode(audio, start, end, this.#header);
    // In this message, bytes after the samples belong to the WAV file, not to the caller's audio.
    if (this.#headerBytesLeft === 0) this.#header = undefined;
  }

  /**
   * Ends the stream: takes the last samples out of the resampler and forgets header and odd byte.
   *
   * @returns the µ-law samples that do not fill a frame, valid until the next push.
   */
  finish(): Uint8Array {
    this.#endDecoding();
    this.#header = undefined;
    const rest = this.#mulaw.subarray(0, this.#filled);
    this.#filled = 0;
    return rest;
  }

  /** Frees the resampler; harmless when repeated. */
  close(): void {
    this.#resampler?.close();
    this.#resampler = undefined;
  }

  #readHeader(audio: Uint8Array): number {
    const layout = layoutOf(audio);
    const encoding = ENCODING_OF_WAV[layout.coding];
    if (encoding === undefined || layout.channels !== 1) {
      throw new AppError('unsupported_audio', 'the WAV header of the caller audio names a coding that cannot be decoded', {
        details: { coding: layout.coding, channels: layout.channels },
      });
    }
    this.#header = { encoding, sampleRateHz: layout.sampleRateHz };
    // The size is zero when a program wrote the header first and never came back to fill it in.
    this.#headerBytesLeft = layout.dataBytes === 0 ? Infinity : layout.dataBytes;
    return layout.dataOffset;
  }

  #decode(audio: Uint8Array, start: number, end: number, format: AudioFormat): void {
    if (this.#decoding?.encoding !== format.encoding || this.#decoding.sampleRateHz !== format.sampleRateHz) this.#begin(format);
    const resampler = this.#resampler;
    if (resampler !== undefined) {
      const samples = this.#widen(audio, start, end, format.encoding);
      if (samples > 0) this.#putLinear(resampler.push(this.#wide.subarray(0, samples)));
    } else if (format.encoding === 'mulaw') this.#putMulaw(audio, start, end);
    else if (format.encoding === 'alaw') this.#putAlaw(audio, start, end);
    else this.#putLinear16(audio, start, end);
  }

  #begin(format: AudioFormat): void {
    if (!DECODABLE_RATES_HZ.includes(format.sampleRateHz)) {
      throw new AppError('unsupported_audio', `caller audio at ${String(format.sampleRateHz)} Hz cannot be decoded`, {
        details: { sampleRateHz: format.sampleRateHz },
      });
    }
    this.#endDecoding();
    this.#decoding = format;
    if (format.sampleRateHz !== LINE_RATE_HZ) this.#resampler = this.#createResampler(format.sampleRateHz, LINE_RATE_HZ);
  }

  #endDecoding(): void {
    this.#oddByte = undefined;
    this.#decoding = undefined;
    if (this.#resampler === undefined) return;
    this.#putLinear(this.#resampler.flush());
    this.close();
  }

  // For nearly all callers, so it works on frames: sample by sample took more than twice as long. A whole frame is passed
  // on as a view of the message, without a copy.
  #putMulaw(audio: Uint8Array, start: number, end: number): void {
    let from = start;
    if (this.#filled > 0) {
      from = Math.min(end, start + FRAME_SAMPLES - this.#filled);
      for (let index = start; index < from; index += 1) this.#putCode(audio[index] ?? MULAW_SILENCE);
    }
    for (; from + FRAME_SAMPLES <= end; from += FRAME_SAMPLES) {
      // Nearly all messages are one frame, and a view of it costs as much as decoding half of its samples.
      const frame = audio.length === FRAME_SAMPLES ? audio : audio.subarray(from, from + FRAME_SAMPLES);
      this.#receive(decodeMulaw(frame, this.#pcm), frame);
    }
    for (; from < end; from += 1) this.#putCode(audio[from] ?? MULAW_SILENCE);
  }

  #putAlaw(audio: Uint8Array, start: number, end: number): void {
    for (let index = start; index < end; index += 1) this.#put(ALAW_TO_LINEAR[audio[index] ?? 0] ?? 0);
  }

  #putLinear16(audio: Uint8Array, start: number, end: number): void {
    for (let index = start; index < end; index += 1) {
      const byte = audio[index] ?? 0;
      if (this.#oddByte === undefined) this.#oddByte = byte;
      else {
        this.#put(((this.#oddByte | (byte << 8)) << 16) >> 16);
        this.#oddByte = undefined;
      }
    }
  }

  #putLinear(samples: Int16Array): void {
    for (const sample of samples) this.#put(sample);
  }

  #put(sample: number): void {
    this.#mulaw[this.#filled] = LINEAR_TO_MULAW[sample & 0xffff] ?? MULAW_SILENCE;
    this.#pcm[this.#filled] = sample;
    this.#advance();
  }

  #putCode(code: number): void {
    this.#mulaw[this.#filled] = code;
    this.#pcm[this.#filled] = MULAW_TO_LINEAR[code] ?? 0;
    this.#advance();
  }

  #advance(): void {
    this.#filled += 1;
    if (this.#filled < FRAME_SAMPLES) return;
    // Empty before the receiver runs: it may end the stream.
    this.#filled = 0;
    this.#receive(this.#pcm, this.#mulaw);
  }

  /** Decodes to 16 bits at the stream's own rate, into a buffer that is reused. Returns the number of samples. */
  #widen(audio: Uint8Array, start: number, end: number, encoding: SampleEncoding): number {
    const wanted = end - start + 1;
    if (this.#wide.length < wanted) this.#wide = new Int16Array(wanted);
    let count = 0;
    for (let index = start; index < end; index += 1) {
      const byte = audio[index] ?? 0;
      if (encoding === 'mulaw') this.#wide[count++] = MULAW_TO_LINEAR[byte] ?? 0;
      else if (encoding === 'alaw') this.#wide[count++] = ALAW_TO_LINEAR[byte] ?? 0;
      else if (this.#oddByte === undefined) this.#oddByte = byte;
      else {
        this.#wide[count++] = ((this.#oddByte | (byte << 8)) << 16) >> 16;
        this.#oddByte = undefined;
      }
    }
    return count;
  }
}

function layoutOf(audio: Uint8Array): WavLayout {
  try {
    return readWavLayout(audio);
  } catch (cause) {
    throw new AppError('unsupported_audio', 'the caller audio starts with a WAV header that cannot be read', { cause });
  }
}
