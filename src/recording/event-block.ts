// Recorded events as bytes: written into a block of fixed size while a call goes on, without an allocation per audio frame, and read back.
// The content of a block can be withheld until the block is queued for the disk.
import { parseJson } from '../base/json.ts';
import type { AudioEncoding, AudioInput } from '../dialog/input.ts';
import { FALLBACK_FORMAT } from '../speech/audio-format.ts';
import { isRecordedEvent, isTime } from './recorded-shape.ts';
import type { RecordedEvent } from './recording.ts';
import { unreadable } from './sealed-file.ts';

/** Size of a block, bytes: eight seconds of µ-law. */
export const BLOCK_BYTES = 65_536;

/** Tag of a record, which consists of the tag, the time, the number of the turn, and content that depends on the tag. */
const TAG = { json: 1, audio: 2, withheldAudio: 3 } as const;
const HEAD_BYTES = 1 + 8 + 4;
const AUDIO_HEAD_BYTES = HEAD_BYTES + 1 + 4 + 4;
const JSON_HEAD_BYTES = HEAD_BYTES + 4;
/** Largest message that a server can be configured to take, bytes. */
const MAX_FRAME_BYTES = 16_777_216;
/** Most sound of a call, bytes, more than a caller says in a day: in a file, withheld sound takes no room, in memory its full length. */
const MAX_SOUND_BYTES = 1_073_741_824;
/** Bytes kept free, because an event may be a little longer when it is withheld. */
const RESERVE_BYTES = 1024;
const ENCODINGS: readonly (AudioEncoding | undefined)[] = [undefined, 'linear16', 'mulaw', 'alaw'];
/** The byte that means silence in each encoding. */
const SILENCE: Readonly<Record<AudioEncoding, number>> = { linear16: 0, mulaw: 0xff, alaw: 0xd5 };

/** A part of the events of one call. */
export class EventBlock {
  #bytes: Buffer;
  #used = 0;

  /** @param bytes - memory for the records; replaced by a larger one when a single record needs it. */
  constructor(bytes: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES)) {
    this.#bytes = bytes;
  }

  get used(): number {
    return this.#used;
  }

  /** The memory that the block uses now, to be used again. */
  get memory(): Buffer {
    return this.#bytes;
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#used);
  }

  /** Adds caller audio. @returns false when it does not fit: then a new block is needed. */
  audio(atMs: number, turn: number, input: AudioInput, isWithheld: boolean): boolean {
    const { audio, encoding, sampleRateHz = 0 } = input;
    const size = isWithheld ? 0 : audio.length;
    if (!this.#hasRoom(AUDIO_HEAD_BYTES + size)) return false;
    const at = this.#head(isWithheld ? TAG.withheldAudio : TAG.audio, atMs, turn);
    const bytes = this.#bytes;
    bytes[at] = encoding === undefined ? 0 : ENCODINGS.indexOf(encoding);
    putUint32(bytes, at + 1, sampleRateHz);
    putUint32(bytes, at + 5, audio.length);
    if (!isWithheld) bytes.set(audio, at + 9);
    this.#used = at + 9 + size;
    return true;
  }

  /** Adds an event. @returns false when it does not fit. */
  json(atMs: number, turn: number, json: string): boolean {
    // In UTF-8 no UTF-16 unit takes more than three bytes.
    if (!this.#hasRoom(JSON_HEAD_BYTES + 3 * json.length)) return false;
    this.#json(atMs, turn, json);
    return true;
  }

  /**
   * Withholds the caller's input from a place on.
   *
   * @param from - index of the first byte; see {@link EventBlock.used}.
   * @param withheld - returns the form in which an event may stay; undefined: the event is removed.
   * @param spared - input on this turn up to this index stays as it is.
   */
  withhold(
    from: number,
    withheld: (event: RecordedEvent) => RecordedEvent | undefined,
    spared: { readonly turn: number; readonly until: number },
  ): void {
    const records = [...recordsIn(Buffer.from(this.#bytes.subarray(from, this.#used)))];
    this.#used = from;
    for (const record of records) {
      const isSpared = record.turn === spared.turn && from + record.end <= spared.until;
      if ('event' in record) {
        const event = isSpared ? record.event : withheld(record.event);
        const json = event === undefined ? '' : JSON.stringify(event);
        if (json !== '' && this.#used + JSON_HEAD_BYTES + Buffer.byteLength(json) <= this.#bytes.length)
          this.#json(record.atMs, record.turn, json);
      } else this.audio(record.atMs, record.turn, record.input, !isSpared || record.input.audio instanceof WithheldAudio);
    }
  }

  #json(atMs: number, turn: number, json: string): void {
    const at = this.#head(TAG.json, atMs, turn);
    const bytes = this.#bytes.write(json, at + 4);
    putUint32(this.#bytes, at, bytes);
    this.#used = at + 4 + bytes;
  }

  #hasRoom(bytes: number): boolean {
    if (this.#used + bytes + RESERVE_BYTES <= this.#bytes.length) return true;
    if (this.#used > 0) return false;
    this.#bytes = Buffer.allocUnsafeSlow(bytes + RESERVE_BYTES);
    return true;
  }

  #head(tag: number, atMs: number, turn: number): number {
    const at = this.#used;
    const bytes = this.#bytes;
    bytes[at] = tag;
    TIME.setFloat64(0, atMs, true);
    for (let byte = 0; byte < TIME_BYTES.length; byte += 1) bytes[at + 1 + byte] = TIME_BYTES[byte] ?? 0;
    putUint32(bytes, at + 9, turn);
    return at + HEAD_BYTES;
  }
}

// Written byte by byte: methods of a buffer are slower, and a view of each block would be one more object outside of the processor's cache.
const TIME = new DataView(new ArrayBuffer(8));
const TIME_BYTES = new Uint8Array(TIME.buffer);

function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** `end`: index of the first byte after the record in its block. */
type BlockRecord = { readonly atMs: number; readonly turn: number; readonly end: number } & (
  | { readonly event: RecordedEvent }
  | { readonly input: AudioInput }
);

/** Collects events and the caller's sound from the blocks of one call, in their order. */
export class EventReader {
  readonly events: RecordedEvent[] = [];
  readonly #sound: Uint8Array[] = [];
  readonly #turns = new Map<number, string>();
  #soundBytes = 0;
  #encoding: AudioEncoding = FALLBACK_FORMAT.encoding;
  readonly #isForeign: boolean;

  /** @param isForeign - whether somebody else may have made the blocks: then their shape is checked. */
  constructor(isForeign: boolean) {
    this.#isForeign = isForeign;
  }

  /** @throws AppError `recording_unreadable`. */
  read(block: Buffer): void {
    for (const record of recordsIn(block)) {
      if (this.#isForeign && !isShaped(record)) throw unreadable('it has an event that no recording has');
      if ('input' in record) this.#audio(record);
      else {
        const { event } = record;
        if (event.kind === 'turn_opened') this.#turns.set(record.turn, event.turn);
        this.events.push(event);
      }
    }
  }

  get callerSound(): Uint8Array {
    return Buffer.concat(this.#sound);
  }

  #audio({ atMs, turn: number, input }: Extract<BlockRecord, { input: AudioInput }>): void {
    const { audio, encoding, sampleRateHz } = input;
    this.#encoding = encoding ?? this.#encoding;
    if (this.#soundBytes + audio.length > MAX_SOUND_BYTES) throw unreadable('it has more sound than any call');
    const isWithheld = audio instanceof WithheldAudio;
    const sound = isWithheld ? new Uint8Array(audio.length).fill(SILENCE[this.#encoding]) : audio;
    const range = { from: this.#soundBytes, bytes: sound.length };
    const named = { ...(encoding !== undefined && { encoding }), ...(sampleRateHz !== undefined && { sampleRateHz }) };
    this.events.push({ kind: 'audio', atMs, turn: this.#turns.get(number) ?? String(number), ...named, ...range });
    this.#sound.push(sound);
    this.#soundBytes += sound.length;
  }
}

function isShaped(record: BlockRecord): boolean {
  return 'event' in record ? isRecordedEvent(record.event) : isTime(record.atMs);
}

/** Sound of which only the length is known. */
class WithheldAudio extends Uint8Array {}

function* recordsIn(block: Buffer): Generator<BlockRecord> {
  let at = 0;
  try {
    while (at < block.length) {
      const tag = block.readUInt8(at);
      const [atMs, turn] = [block.readDoubleLE(at + 1), block.readUInt32LE(at + 9)];
      at += HEAD_BYTES;
      if (tag === TAG.json) {
        const end = at + 4 + block.readUInt32LE(at);
        // We have sealed this block, so the event is trusted to have its type.
        yield { atMs, turn, end, event: parseJson(block.subarray(at + 4, end)) as RecordedEvent };
        at = end;
        continue;
      }
      const encoding = ENCODINGS[block.readUInt8(at)];
      const [rate, length] = [block.readUInt32LE(at + 1), block.readUInt32LE(at + 5)];
      at += AUDIO_HEAD_BYTES - HEAD_BYTES;
      const isWithheld = tag === TAG.withheldAudio;
      if (length > MAX_FRAME_BYTES) throw unreadable('it has a frame that is longer than any can be');
      const audio = isWithheld ? new WithheldAudio(length) : block.subarray(at, at + length);
      if (!isWithheld) at += length;
      const named = { ...(encoding !== undefined && { encoding }), ...(rate !== 0 && { sampleRateHz: rate }) };
      yield { atMs, turn, end: at, input: { kind: 'audio', audio, ...named } };
    }
  } catch (thrown) {
    if (thrown instanceof RangeError) throw unreadable('a piece of it ends in the middle of an event');
    throw thrown;
  }
}
