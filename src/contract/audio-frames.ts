// Reads caller audio without decoding the ids and settings that repeat in fifty messages a second: these bytes are
// compared with those of a decoded message. Any other message is left to the decoder.
import type { MediaRequest } from './messages.ts';

/** Caller audio as the decoder gives it. */
export type WireAudio = NonNullable<MediaRequest['audio_input']>;

// Tags of one byte: field number, then wire type 0 (varint) or 2 (length-delimited). A test compares them with the
// protos.
const LENGTH_DELIMITED = 2;
const FIRST_INPUT_FIELD = 6;
const AUDIO_INPUT_TAG = (FIRST_INPUT_FIELD << 3) | LENGTH_DELIMITED;
const CALLER_AUDIO_TAG = (1 << 3) | LENGTH_DELIMITED;
const ENCODING_TAG = 2 << 3;
const RATE_TAG = 3 << 3;
/** No valid number: longer than two bytes, or the message ends. */
const NONE = -1;

/**
 * The audio messages of one stream. A message of 160 bytes of audio takes 0.3 µs here; decoding it and checking its
 * ids took 1.3 µs (measured 2026-11-21, Node 20.20).
 */
export class AudioFrames {
  /** The bytes before the input, of the message that was learned last. */
  #head: Buffer | undefined;
  #at = 0;

  /**
   * Remembers the beginning of a message.
   *
   * @param bytes - a message that was decoded and checked: the bytes before its input count as checked from now on.
   */
  learn(bytes: Buffer): void {
    const end = this.#headEnd(bytes);
    // A copy: a view would keep the whole received chunk in memory.
    this.#head = end === NONE ? undefined : Buffer.from(bytes.subarray(0, end));
  }

  /**
   * The audio of a message that begins like the learned one and otherwise contains only audio and its format;
   * undefined for any other message. The audio is a view.
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

  /** Start of the first field from {@link FIRST_INPUT_FIELD} on; {@link NONE} for malformed bytes before it. */
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

  /** Reads the number at the cursor. */
  #number(bytes: Buffer): number {
    const low = bytes[this.#at++];
    if (low === undefined || low < 0x80) return low ?? NONE;
    const high = bytes[this.#at++];
    return high === undefined || high >= 0x80 ? NONE : (low & 0x7f) | (high << 7);
  }
}

function startsWith(bytes: Buffer, head: Buffer): boolean {
  if (bytes.length <= head.length) return false;
  // Faster than a native call for so few bytes.
  for (let index = 0; index < head.length; index += 1) if (bytes[index] !== head[index]) return false;
  return true;
}
