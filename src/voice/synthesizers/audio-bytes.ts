// Bytes of speech that arrive in pieces of any size, as samples: a WAV file when they begin as one, else 16-bit samples of a
// known rate. What is compressed is refused, because played as samples it would be nothing but loud noise.
import { AppError } from '../../base/errors.ts';
import { blockBytesOf, decodeBlocks, readWavLayout, startsAsWav, type WavLayout } from '../../speech/wav.ts';

/** Bytes that tell a WAV file from bare samples. */
const TELLING_BYTES = 12;
/** Samples must begin within this, bytes; writers put a name or a date before them, not more. */
const MAX_HEADER_BYTES = 16_384;

/** How compressed audio begins: MP3 with a title, Ogg, FLAC, WebM. */
const COMPRESSED = ['494433', '4f676753', '664c6143', '1a45dfa3'];
/** Second bytes of an MPEG or ADTS frame, after 0xff. */
const MPEG_FRAME = new Set([0xfb, 0xfa, 0xf3, 0xf2, 0xe3, 0xe2, 0xf1, 0xf9]);

/** Turns bytes into samples of one channel. */
export class AudioBytes {
  readonly #bareRateHz: number;
  #layout: Pick<WavLayout, 'coding' | 'channels' | 'sampleRateHz'> | undefined;
  /** What could not be decoded yet. */
  #rest: Uint8Array = new Uint8Array(0);
  #bytesLeft = Infinity;

  /** @param bareRateHz - rate of samples that come without a header. */
  constructor(bareRateHz: number) {
    this.#bareRateHz = bareRateHz;
  }

  /** Rate of the samples, Hz; good once there were some. */
  get sampleRateHz(): number {
    return this.#layout?.sampleRateHz ?? this.#bareRateHz;
  }

  /**
   * The samples that are whole with this piece; none until it is clear what the bytes are.
   *
   * @throws AppError `unsupported_audio` for compressed audio, `prompt_unusable` for a WAV file that cannot be read.
   */
  push(piece: Uint8Array): Int16Array {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    if (this.#layout === undefined && !this.#isClear()) return new Int16Array(0);
    return this.#decode();
  }

  /**
   * The samples of bytes too few to tell what they are. Half a sample at the end is left out.
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
    // One that writes while it speaks cannot know the size; some then write none.
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
    // What follows the samples of a file is no sound.
    this.#rest = this.#bytesLeft < blockBytes ? new Uint8Array(0) : this.#rest.slice(whole);
    return samples;
  }
}

/** Undefined while more bytes may make a header of it. */
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
