// How long there was sound in the recording of a call: what its caller really heard. Keeps no samples.

/** One piece, samples: 5 ms. */
const PIECE = 40;
const PIECE_MS = 5;
/** Loudest sample of what counts as silence. */
const SILENT = 300;

export class Recording {
  /** Pieces with sound before each piece. */
  readonly #sounding: Uint32Array;

  /** @param heard - 8 kHz, from the beginning of the call. */
  constructor(heard: Int16Array) {
    const pieces = Math.ceil(heard.length / PIECE);
    this.#sounding = new Uint32Array(pieces + 1);
    for (let index = 0; index < pieces; index += 1) {
      const isLoud = heard.subarray(index * PIECE, (index + 1) * PIECE).some((sample) => Math.abs(sample) > SILENT);
      this.#sounding[index + 1] = (this.#sounding[index] ?? 0) + (isLoud ? 1 : 0);
    }
  }

  /** How long there was sound between two moments of the call, ms. */
  soundMs(fromMs: number, toMs: number): number {
    return (this.#before(toMs) - this.#before(fromMs)) * PIECE_MS;
  }

  /** When the first sound after a moment began, ms. */
  nextSoundMs(fromMs: number): number {
    const before = this.#before(fromMs);
    return (this.#sounding.findIndex((count) => count > before) - 1) * PIECE_MS;
  }

  #before(ms: number): number {
    return this.#sounding[Math.min(Math.max(0, Math.round(ms / PIECE_MS)), this.#sounding.length - 1)] ?? 0;
  }
}
