// Caller audio out of a message without decoding what stands the same in fifty messages a second: ids and settings in front of
// the audio are compared as bytes with those of a message that was decoded before. Whatever looks different is left to the
// decoder, so that nothing is read in two ways. Knows no call and no sound.
import type { MediaRequest } from './messages.ts';

/** Caller audio as the decoder gives it. */
export type WireAudio = NonNullable<MediaRequest['audio_input']>;

// Tags of one byte: number of the field, then 0 for a number or 2 for bytes of a length. A test holds them to the protos.
const LENGTH_DELIMITED = 2;
const FIRST_INPUT_FIELD = 6;
const AUDIO_INPUT_TAG = (FIRST_INPUT_FIELD << 3) | LENGTH_DELIMITED;
const CALLER_AUDIO_TAG = (1 << 3) | LENGTH_DELIMITED;
const ENCODING_TAG = 2 << 3;
const RATE_TAG = 3 << 3;
/** No number: it is longer than two bytes or the message ends before it. */
const NONE = -1;

/**
 * The audio messages of one stream. A message of 160 bytes of audio takes 0.3 µs here; decoding it and looking at its ids
 * took 1.3 µs (measured 2026-11-21, Node 20.20).
 */
export class AudioFrames {
  /** What stands before the input in a message that was decoded. */
  #head: Buffer | undefined;
  #at = 0;

  /**
   * Remembers how a message begins.
   *
   * @param bytes - a message that was decoded and found good: everything in front of its input counts as good from now on.
   */
  learn(bytes: Buffer): void {
    const end = this.#headEnd(bytes);
    // A copy: a view would keep all that was received with it.
    this.#head = end === NONE ? undefined : Buffer.from(bytes.subarray(0, end));
  }

  /**
   * The audio of a message that begins as the learned one does and holds audio and its format and nothing else; undefined for any
   * other message. Its bytes are a view.
   */
  read(bytes: Buffer): WireAudio | undefined {
    const head = this.#head;
    if (head === undefined || !startsWith(bytes, head)) return undefined;
    this.#at = head.length;
    if (bytes[this.#at++] !== AUDIO_INPUT_TAG || this.#number(bytes) !== bytes.length - this.#at) return undefined;
    if (bytes[this.#at++] !== CALLER_AUDIO_TAG) return undefined;
    const length = this.#number(bytes);
    const start = this.#at;
    this.#at += length;
    if (length === NONE || this.#at > bytes.length) return undefined;
    const caller_audio = bytes.subarray(start, this.#at);
    return this.#at === bytes.length ? { caller_audio } : this.#withFormat(bytes, caller_audio);
  }

  #withFormat(bytes: Buffer, caller_audio: Buffer): WireAudio | undefined {
    let audio: WireAudio = { caller_audio };
    while (this.#at < bytes.length) {
      const tag = bytes[this.#at++];
      const value = this.#number(bytes);
      if (value === NONE) return undefined;
      if (tag === ENCODING_TAG) audio = { ...audio, encoding: value };
      else if (tag === RATE_TAG) audio = { ...audio, sample_rate_hertz: value };
      else return undefined;
    }
    return audio;
  }

  /** Where the first field from {@link FIRST_INPUT_FIELD} on begins; {@link NONE} when what stands before is not understood. */
  #headEnd(bytes: Buffer): number {
    this.#at = 0;
    while (this.#at < bytes.length) {
      const tag = bytes[this.#at] ?? 0;
      if (tag >> 3 >= FIRST_INPUT_FIELD) return this.#at;
      this.#at += 1;
      const value = this.#number(bytes);
      if (value === NONE) return NONE;
      if ((tag & 7) === LENGTH_DELIMITED) this.#at += value;
      else if ((tag & 7) !== 0) return NONE;
    }
    return NONE;
  }

  /** The number at the cursor, which moves behind it. */
  #number(bytes: Buffer): number {
    const low = bytes[this.#at++];
    if (low === undefined || low < 0x80) return low ?? NONE;
    const high = bytes[this.#at++];
    return high === undefined || high >= 0x80 ? NONE : (low & 0x7f) | (high << 7);
  }
}

function startsWith(bytes: Buffer, head: Buffer): boolean {
  if (bytes.length <= head.length) return false;
  // A call out of JavaScript costs more than it saves here.
  for (let index = 0; index < head.length; index += 1) if (bytes[index] !== head[index]) return false;
  return true;
}
