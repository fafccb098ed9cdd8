// What the platform has sent on a forwarded turn, kept so that another home can be given it. Bounded: of a long turn the first
// message and the newest ones. Knows no message.
import { frameBytes, FrameReader, putFrame } from './frames.ts';

/** The oldest is dropped whole, so this is the part of the limit that may stay unused. */
const PIECES = 16;

/**
 * One per forwarded turn. Frames lie one behind the other in a few pieces of memory: with a buffer for each, an eighth of what
 * forwarding costs was the garbage collector's.
 */
export class HeldInput {
  readonly #first: Buffer;
  readonly #maxBytes: number;
  /** Pieces that are full, as far as they are used. */
  #full: Buffer[] = [];
  #fullBytes = 0;
  #piece: Buffer = Buffer.alloc(0);
  #used = 0;

  /**
   * @param first - frame, whose message names the call: always kept.
   * @param maxBytes - most memory that is held in all; one frame may be larger.
   */
  constructor(first: Buffer, maxBytes: number) {
    this.#first = first;
    this.#maxBytes = maxBytes;
  }

  /** All frames in the order in which they came, as pieces of a body. */
  get body(): readonly Buffer[] {
    return [this.#first, ...this.#behindFirst()];
  }

  /** The messages behind the first one. */
  get messages(): readonly Buffer[] {
    const reader = new FrameReader();
    return this.#behindFirst().flatMap((piece) => reader.read(piece));
  }

  /** @returns its frame. */
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
