// WAV files: reads the kinds that prompts and callers come in, writes the kinds we send and record. Works on whole byte
// arrays; never trusts a size in a file.
import { AppError } from '../base/errors.ts';
import { ALAW_TO_LINEAR, MULAW_SILENCE, MULAW_TO_LINEAR } from './g711.ts';

/** How the samples of a WAV file are coded. PCM of 8 bits is unsigned, all other PCM signed, low byte first. */
export type WavCoding = 'pcm8' | 'pcm16' | 'pcm24' | 'mulaw' | 'alaw';

/** Where the samples of a WAV file are, and their format. */
export interface WavLayout {
  readonly coding: WavCoding;
  /** 1 or 2. */
  readonly channels: number;
  readonly sampleRateHz: number;
  /** Index of the first byte of the samples. */
  readonly dataOffset: number;
  /** Bytes of samples according to the file; Infinity when the file was written to a pipe, so that the size was unknown. */
  readonly dataBytes: number;
}

/** Decoded audio, one channel. */
export interface MonoAudio {
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

/** Length of the header that {@link mulawWavHeader} makes, bytes. */
export const MULAW_WAV_HEADER_BYTES = 58;

const LETTER_R = 0x52;
const FORMAT_PCM = 1;
const FORMAT_ALAW = 6;
const FORMAT_MULAW = 7;
const FORMAT_EXTENSIBLE = 0xfffe;
const PCM_HEADER_BYTES = 44;
const MAX_RATE_HZ = 192_000;
/** Writers that cannot seek claim a size near 2^31 or 2^32 (sox: 0x7ffff000); our own files are far smaller. */
const UNKNOWN_SIZE = 0x7fff_0000;

const BYTES_PER_SAMPLE = { pcm8: 1, pcm16: 2, pcm24: 3, mulaw: 1, alaw: 1 } as const satisfies Record<WavCoding, number>;

/** Whether the bytes start as a WAV file does. */
export function startsAsWav(bytes: Uint8Array): boolean {
  // Called for every message of a caller: the first letter alone is enough for nearly all of them.
  return bytes[0] === LETTER_R && bytes.length >= 12 && tagAt(bytes, 0) === 'RIFF' && tagAt(bytes, 8) === 'WAVE';
}

/**
 * Finds the samples of a WAV file by walking its chunks. The file may be cut within its samples, so that the first
 * message of a stream can be read, too.
 *
 * @throws AppError `prompt_unusable` when it is no WAV file, breaks off before its samples, or is of a kind that
 * cannot be decoded (only PCM of 8, 16 or 24 bits, µ-law and A-law, mono or stereo, up to 192 kHz can).
 */
export function readWavLayout(bytes: Uint8Array): WavLayout {
  if (!startsAsWav(bytes)) throw unusable('it does not start with RIFF and WAVE');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: Omit<WavLayout, 'dataOffset' | 'dataBytes'> | undefined;
  // Every chunk takes at least eight bytes, so the walk ends.
  for (let offset = 12; offset + 8 <= bytes.length;) {
    const tag = tagAt(bytes, offset);
    const size = view.getUint32(offset + 4, true);
    const body = offset + 8;
    if (tag === 'data') {
      if (format === undefined) throw unusable('its samples stand before their format');
      return { ...format, dataOffset: body, dataBytes: size >= UNKNOWN_SIZE ? Infinity : size };
    }
    if (tag === 'fmt ') format = readFormat(view, body, size);
    offset = body + size + (size & 1);
  }
  throw unusable('it ends before its samples');
}

function readFormat(view: DataView, body: number, size: number): Omit<WavLayout, 'dataOffset' | 'dataBytes'> {
  if (size < 16 || body + size > view.byteLength) throw unusable('its format is cut short');
  const channels = view.getUint16(body + 2, true);
  const sampleRateHz = view.getUint32(body + 4, true);
  const blockBytes = view.getUint16(body + 12, true);
  const bits = view.getUint16(body + 14, true);
  const outer = view.getUint16(body, true);
  if (outer === FORMAT_EXTENSIBLE && size < 40) throw unusable('its extended format is cut short');
  // An extended header names the real coding in the first two bytes of its sub-format.
  const coding = codingOf(outer === FORMAT_EXTENSIBLE ? view.getUint16(body + 24, true) : outer, bits);
  if (channels !== 1 && channels !== 2) throw unusable(`it has ${String(channels)} channels; 1 and 2 can be read`);
  if (sampleRateHz === 0 || sampleRateHz > MAX_RATE_HZ) throw unusable(`its rate is ${String(sampleRateHz)} Hz`);
  if (blockBytes !== channels * BYTES_PER_SAMPLE[coding]) throw unusable(`its block size is ${String(blockBytes)} bytes`);
  return { coding, channels, sampleRateHz };
}

function codingOf(format: number, bits: number): WavCoding {
  if (format === FORMAT_MULAW && bits === 8) return 'mulaw';
  if (format === FORMAT_ALAW && bits === 8) return 'alaw';
  if (format === FORMAT_PCM && bits === 8) return 'pcm8';
  if (format === FORMAT_PCM && bits === 16) return 'pcm16';
  if (format === FORMAT_PCM && bits === 24) return 'pcm24';
  throw unusable(`its format ${String(format)} with ${String(bits)} bits is not one of PCM 8, 16, 24 bits, mu-law or A-law`);
}

/**
 * Reads a whole WAV file; two channels are averaged. Chunks after the samples are ignored.
 *
 * @throws AppError `prompt_unusable` as {@link readWavLayout}, and when the file is shorter than it claims.
 */
export function readWav(bytes: Uint8Array): MonoAudio {
  const { coding, channels, sampleRateHz, dataOffset, dataBytes } = readWavLayout(bytes);
  const there = bytes.length - dataOffset;
  if (dataBytes !== Infinity && dataBytes > there) throw unusable('it ends before its last sample');
  // Sized by the bytes that are there, never by the size that the file claims.
  const body = bytes.subarray(dataOffset, dataOffset + Math.min(dataBytes, there));
  return { samples: decodeBlocks({ coding, channels }, body), sampleRateHz };
}

/** Bytes of one sample of all channels together. */
export function blockBytesOf({ coding, channels }: Pick<WavLayout, 'coding' | 'channels'>): number {
  return channels * BYTES_PER_SAMPLE[coding];
}

/** The samples of whole blocks as one channel; two channels are averaged. Bytes after the last whole block are left out. */
export function decodeBlocks(layout: Pick<WavLayout, 'coding' | 'channels'>, bytes: Uint8Array): Int16Array {
  const blockBytes = blockBytesOf(layout);
  const samples = new Int16Array(Math.floor(bytes.length / blockBytes));
  const sampleAt = SAMPLE_AT[layout.coding];
  const second = blockBytes / layout.channels;
  for (let index = 0, offset = 0; index < samples.length; index += 1, offset += blockBytes) {
    const first = sampleAt(bytes, offset);
    samples[index] = layout.channels === 1 ? first : (first + sampleAt(bytes, offset + second)) >> 1;
  }
  return samples;
}

const SAMPLE_AT = {
  pcm8: (bytes, offset) => ((bytes[offset] ?? 0x80) - 0x80) << 8,
  pcm16: (bytes, offset) => int16At(bytes, offset),
  // The low byte is dropped: the result has 16 bits.
  pcm24: (bytes, offset) => int16At(bytes, offset + 1),
  mulaw: (bytes, offset) => MULAW_TO_LINEAR[bytes[offset] ?? MULAW_SILENCE] ?? 0,
  alaw: (bytes, offset) => ALAW_TO_LINEAR[bytes[offset] ?? 0] ?? 0,
} as const satisfies Record<WavCoding, (bytes: Uint8Array, offset: number) => number>;

function int16At(bytes: Uint8Array, offset: number): number {
  return (((bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8)) << 16) >> 16;
}

/**
 * The header of a WAV file of 8 kHz mono µ-law (G-41): 58 bytes, with the long format and the sample count that every
 * coding other than PCM needs.
 *
 * @param dataBytes - bytes of µ-law that follow; after an odd number of them one zero byte must follow.
 */
export function mulawWavHeader(dataBytes: number): Uint8Array {
  const header = new Uint8Array(MULAW_WAV_HEADER_BYTES);
  const view = new DataView(header.buffer);
  putTag(header, 0, 'RIFF');
  view.setUint32(4, MULAW_WAV_HEADER_BYTES - 8 + dataBytes + (dataBytes & 1), true);
  putTag(header, 8, 'WAVE');
  putFormat(header, { format: FORMAT_MULAW, channels: 1, sampleRateHz: 8000, bits: 8, extraBytes: 2 });
  putTag(header, 38, 'fact');
  view.setUint32(42, 4, true);
  view.setUint32(46, dataBytes, true);
  putTag(header, 50, 'data');
  view.setUint32(54, dataBytes, true);
  return header;
}

/** A WAV file of 8 kHz mono µ-law. */
export function mulawWav(mulaw: Uint8Array): Uint8Array {
  const file = new Uint8Array(MULAW_WAV_HEADER_BYTES + mulaw.length + (mulaw.length & 1));
  file.set(mulawWavHeader(mulaw.length));
  file.set(mulaw, MULAW_WAV_HEADER_BYTES);
  return file;
}

/**
 * A WAV file of 16-bit PCM with these channels; shorter ones are filled up with silence.
 *
 * @param channels - 1 or 2 channels.
 */
export function pcmWav(channels: readonly Int16Array[], sampleRateHz: number): Uint8Array {
  const frames = Math.max(0, ...channels.map((channel) => channel.length));
  const dataBytes = frames * channels.length * 2;
  const file = new Uint8Array(PCM_HEADER_BYTES + dataBytes);
  const view = new DataView(file.buffer);
  putTag(file, 0, 'RIFF');
  view.setUint32(4, PCM_HEADER_BYTES - 8 + dataBytes, true);
  putTag(file, 8, 'WAVE');
  putFormat(file, { format: FORMAT_PCM, channels: channels.length, sampleRateHz, bits: 16, extraBytes: 0 });
  putTag(file, 36, 'data');
  view.setUint32(40, dataBytes, true);
  channels.forEach((channel, position) => {
    let offset = PCM_HEADER_BYTES + position * 2;
    for (const sample of channel) {
      view.setInt16(offset, sample, true);
      offset += channels.length * 2;
    }
  });
  return file;
}

interface WrittenFormat {
  readonly format: number;
  readonly channels: number;
  readonly sampleRateHz: number;
  readonly bits: number;
  /** 2 for the length of an (empty) extension, 0 for none. */
  readonly extraBytes: number;
}

function putFormat(file: Uint8Array, { format, channels, sampleRateHz, bits, extraBytes }: WrittenFormat): void {
  const view = new DataView(file.buffer);
  const blockBytes = (channels * bits) / 8;
  putTag(file, 12, 'fmt ');
  view.setUint32(16, 16 + extraBytes, true);
  view.setUint16(20, format, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRateHz, true);
  view.setUint32(28, sampleRateHz * blockBytes, true);
  view.setUint16(32, blockBytes, true);
  view.setUint16(34, bits, true);
}

function tagAt(bytes: Uint8Array, offset: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + 4));
}

function putTag(bytes: Uint8Array, offset: number, tag: string): void {
  for (let index = 0; index < 4; index += 1) bytes[offset + index] = tag.charCodeAt(index);
}

function unusable(reason: string): AppError {
  return new AppError('prompt_unusable', `the WAV file cannot be read: ${reason}`);
}
