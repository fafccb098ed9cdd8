// The port between the prompt cache and whatever makes speech from text. Roles only.

/** Makes speech. Whoever created it closes it. */
export interface Synthesizer {
  /** Names everything that changes the sound (program, voice, treatment); part of the cache's keys. */
  readonly name: string;
  /** Whether the beginning of a text can be heard while the rest is still being made. */
  readonly speaksInPieces: boolean;
  /**
   * Speaks one text.
   *
   * @param onPiece - given the speech piece by piece as it is made, the first one as early as possible. Together the pieces
   *   are what is returned; a synthesizer that does not speak in pieces never calls it.
   * @returns G.711 µ-law, 8 kHz, mono, no header; never empty.
   * @throws AppError `synthesis_failed`, also when `signal` aborts; the message never holds the text.
   */
  speak(text: string, signal: AbortSignal, onPiece?: (mulaw: Uint8Array) => void): Promise<Uint8Array>;
  /** Stops it and waits until it has stopped. Texts not yet spoken fail. */
  close(): Promise<void>;
}
