// Two bounded buffers for line audio in whole frames: the loop keeps the last moments, the tape keeps an utterance.
import { FRAME_SAMPLES, LINE_RATE_HZ } from './audio-format.ts';

/** Keeps the last frames of µ-law and forgets older ones. Allocates its memory at once; only `reserve` extends it. */
export class FrameLoop {
  #bytes: Uint8Array;
  #next = 0;
  #filled = 0;

  /** @param capacity - frames kept. */
  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity * FRAME_SAMPLES);
  }

  /** Makes room for this many frames without dropping any; never shrinks. */
  reserve(capacity: number): void {
    const wanted = capacity * FRAME_SAMPLES;
    if (wanted <= this.#bytes.length) return;
    const wider = new Uint8Array(wanted);
    // Oldest first: the frames after the write position, then those before it.
    const start = this.#next - this.#filled;
    if (start < 0) wider.set(this.#bytes.subarray(this.#bytes.length + start));
    wider.set(this.#bytes.subarray(Math.max(start, 0), this.#next), Math.max(-start, 0));
    this.#bytes = wider;
    this.#next = this.#filled;
  }

  /** Takes one frame of 160 bytes. */
  push(frame: Uint8Array): void {
    if (this.#bytes.length === 0) return;
    this.#bytes.set(frame, this.#next);
    this.#next = (this.#next + FRAME_SAMPLES) % this.#bytes.length;
    this.#filled = Math.min(this.#filled + FRAME_SAMPLES, this.#bytes.length);
  }

  /** Moves the last `frames` frames, or as many as there are, to the end of `tape`, oldest first, and forgets all. */
  spill(frames: number, tape: Tape): void {
    const wanted = Math.min(frames * FRAME_SAMPLES, this.#filled);
    const start = this.#next - wanted;
    if (start < 0) tape.append(this.#bytes.subarray(this.#bytes.length + start));
    tape.append(this.#bytes.subarray(Math.max(start, 0), this.#next));
    this.clear();
  }

  /** Forgets everything. */
  clear(): void {
    this.#next = 0;
    this.#filled = 0;
  }
}

/** First size of a tape: four seconds, longer than most answers. */
const FIRST_BYTES = LINE_RATE_HZ * 4;

/** Grows by doubling up to a limit; takes no memory before the first byte. */
export class Tape {
  #maxBytes: number;
  #bytes = new Uint8Array(0);
  #length = 0;

  /** @param maxBytes - bytes beyond this are dropped. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes kept. */
  get length(): number {
    return this.#length;
  }

  /** Sets another limit; what is kept stays. */
  limit(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  /** Adds bytes at the end; drops what does not fit. */
  append(bytes: Uint8Array): void {
    const room = Math.max(0, this.#maxBytes - this.#length);
    const kept = bytes.length <= room ? bytes : bytes.subarray(0, room);
    if (kept.length === 0) return;
    this.#reserve(this.#length + kept.length);
    this.#bytes.set(kept, this.#length);
    this.#length += kept.length;
  }

  /** As {@link copy}; the tape is empty afterwards and holds no memory. */
  take(length: number): Uint8Array {
    const taken = this.copy(length);
    this.clear();
    return taken;
  }

  /** A copy of the first `length` bytes, at most. */
  copy(length: number): Uint8Array {
    return this.#bytes.slice(0, Math.max(0, Math.min(length, this.#length)));
  }

  /** Forgets everything and gives the memory back. */
  clear(): void {
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
  }

  #reserve(needed: number): void {
    if (needed <= this.#bytes.length) return;
    const wider = new Uint8Array(Math.min(Math.max(needed, this.#bytes.length * 2, FIRST_BYTES), this.#maxBytes));
    wider.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = wider;
  }
}
