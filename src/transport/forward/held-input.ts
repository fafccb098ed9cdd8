// Keeps what the platform sent on a forwarded turn, for a next home. Bounded: of a long turn it keeps the first
// message and the newest ones. Knows no message.
import { frameBytes, FrameReader, putFrame } from './frames.ts';

/** Number of pieces of memory. The oldest piece is dropped whole, so up to one piece of the limit may stay unused. */
const PIECES = 16;

/**
 * One per forwarded turn. Frames share a few pieces of memory: one buffer per frame cost an eighth of forwarding in
 * garbage collection.
 */
export class HeldInput {
  readonly #first: Buffer;
  readonly #maxBytes: number;
  /** Full pieces, without their unused ends. */
  #full: Buffer[] = [];
  #fullBytes = 0;
  #piece: Buffer = Buffer.alloc(0);
  #used = 0;

  /**
   * @param first - the frame that names the call; always kept.
   * @param maxBytes - most memory; a single frame may be larger.
   */
  constructor(first: Buffer, maxBytes: number) {
    this.#first = first;
    this.#maxBytes = maxBytes;
  }

  /** All frames in order, as pieces of a body. */
  get body(): readonly Buffer[] {
    return [this.#first, ...this.#behindFirst()];
  }

  /** The messages after the first one. */
  get messages(): readonly Buffer[] {
    const reader = new FrameReader();
    return this.#behindFirst().flatMap((piece) => reader.read(piece));
  }

  /** Keeps a message. @returns its frame. */
  add(message: Buffer): Buffer {
    const bytes = frameBytes(message);
    if (this.#used + bytes > this.#piece.length) this.#makeRoom(bytes);
    const frame = putFrame(message, this.#piece, this.#used);
    this.#used += bytes;
    return frame;
  }

  #makeRoom(bytes: number): void {
    if (this.#used > 0) this.#full.push(this.#piece.subarray(0, this.#used));
    this.#fullBytes += this.#piece.length;
    this.#piece = Buffer.allocUnsafeSlow(Math.max(bytes, Math.floor(this.#maxBytes / PIECES)));
    this.#used = 0;
    while (this.#full.length > 0 && this.#first.length + this.#fullBytes + this.#piece.length > this.#maxBytes) {
      this.#fullBytes -= this.#full.shift()?.buffer.byteLength ?? 0;
    }
  }

  #behindFirst(): readonly Buffer[] {
    return this.#used === 0 ? [] : [...this.#full, this.#piece.subarray(0, this.#used)];
  }
}
