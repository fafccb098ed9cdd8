// Decodes speech that arrives in pieces of any size: a WAV file if it begins like one, else 16-bit samples of a known
// rate. Compressed audio is refused, because it would play as loud noise.
import { AppError } from '../../base/errors.ts';
import { blockBytesOf, decodeBlocks, readWavLayout, startsAsWav, type WavLayout } from '../../speech/wav.ts';

/** Bytes needed to recognize a WAV file. */
const TELLING_BYTES = 12;
/** Largest WAV header, bytes. */
const MAX_HEADER_BYTES = 16_384;

/** First bytes of compressed audio: MP3 with an ID3 tag, Ogg, FLAC, WebM. */
const COMPRESSED = ['494433', '4f676753', '664c6143', '1a45dfa3'];
/** Second bytes of an MPEG or ADTS frame, after 0xff. */
const MPEG_FRAME = new Set([0xfb, 0xfa, 0xf3, 0xf2, 0xe3, 0xe2, 0xf1, 0xf9]);

/** Decodes bytes to samples of one channel. */
export class AudioBytes {
  readonly #bareRateHz: number;
  #layout: Pick<WavLayout, 'coding' | 'channels' | 'sampleRateHz'> | undefined;
  /** Bytes not decoded yet. */
  #rest: Uint8Array = new Uint8Array(0);
  #bytesLeft = Infinity;

  /** @param bareRateHz - rate of samples without a header. */
  constructor(bareRateHz: number) {
    this.#bareRateHz = bareRateHz;
  }

  /** Rate of the samples, Hz; valid after the first samples. */
  get sampleRateHz(): number {
    return this.#layout?.sampleRateHz ?? this.#bareRateHz;
  }

  /**
   * The samples that are complete with this piece; none until the format is known.
   *
   * @throws AppError `unsupported_audio` for compressed audio, `prompt_unusable` for a WAV file that cannot be read.
   */
  push(piece: Uint8Array): Int16Array {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    if (this.#layout === undefined && !this.#isClear()) return new Int16Array(0);
    return this.#decode();
  }

  /**
   * The remaining samples, also of audio that was too short to show its format. Drops half a sample at the end.
   *
   * @throws AppError `prompt_unusable` for a WAV file without samples.
   */
  end(): Int16Array {
    if (this.#layout === undefined && startsAsWav(this.#rest)) readWavLayout(this.#rest);
    this.#layout ??= { coding: 'pcm16', channels: 1, sampleRateHz: this.#bareRateHz };
    return this.#decode();
  }

  #isClear(): boolean {
    if (this.#rest.length < TELLING_BYTES) return false;
    refuseCompressed(this.#rest);
    if (!startsAsWav(this.#rest)) {
      this.#layout = { coding: 'pcm16', channels: 1, sampleRateHz: this.#bareRateHz };
      return true;
    }
    const layout = layoutOf(this.#rest);
    if (layout === undefined) return false;
    this.#layout = layout;
    this.#rest = this.#rest.subarray(layout.dataOffset);
    // A streaming service does not know the size in advance; some write 0.
    this.#bytesLeft = layout.dataBytes === 0 ? Infinity : layout.dataBytes;
    return true;
  }

  #decode(): Int16Array {
    const layout = this.#layout;
    if (layout === undefined) return new Int16Array(0);
    const blockBytes = blockBytesOf(layout);
    const usable = Math.min(this.#rest.length, this.#bytesLeft);
    const whole = usable - (usable % blockBytes);
    const samples = decodeBlocks(layout, this.#rest.subarray(0, whole));
    this.#bytesLeft -= whole;
    // Chunks after the samples are not audio.
    this.#rest = this.#bytesLeft < blockBytes ? new Uint8Array(0) : this.#rest.slice(whole);
    return samples;
  }
}

/** Undefined while the header is incomplete. */
function layoutOf(bytes: Uint8Array): WavLayout | undefined {
  try {
    return readWavLayout(bytes);
  } catch (thrown) {
    if (bytes.length >= MAX_HEADER_BYTES) throw thrown;
    return undefined;
  }
}

function refuseCompressed(bytes: Uint8Array): void {
  const start = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  const isFrame = bytes[0] === 0xff && MPEG_FRAME.has(bytes[1] ?? 0);
  if (isFrame || COMPRESSED.some((magic) => start.startsWith(magic))) {
    throw new AppError('unsupported_audio', 'compressed audio cannot be played; the service must speak pcm or wav');
  }
}
