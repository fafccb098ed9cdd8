// Frames that come at an uneven pace, for a reader with an even one. Knows no clock: the reader's pace is the time.

/** Frames that are collected before the first one is read: 60 ms, longer than most gaps of a browser. */
const START_FRAMES = 3;
/** Most frames kept, 200 ms: a writer that is faster than the reader must not make the sound late. */
const MAX_FRAMES = 10;

/** Bounded; every method is cheap enough to be called per frame. */
export class JitterBuffer {
  #frames: Uint8Array[] = [];
  #isFilling = true;

  /** Adds a frame. A full buffer drops all but the latest frames. */
  push(frame: Uint8Array): void {
    this.#frames.push(frame);
    if (this.#frames.length >= START_FRAMES) this.#isFilling = false;
    if (this.#frames.length > MAX_FRAMES) this.#frames = this.#frames.slice(-START_FRAMES);
  }

  /** The next frame; undefined: none has come in time, and the buffer fills again. */
  take(): Uint8Array | undefined {
    const frame = this.#isFilling ? undefined : this.#frames.shift();
    if (frame === undefined) this.#isFilling = true;
    return frame;
  }
}
