// The port between the prompt cache and whatever makes speech from text. Roles only.

/** Makes speech. Whoever created it closes it. */
export interface Synthesizer {
  /** Names everything that changes the sound (program, voice, treatment); part of the cache's keys. */
  readonly name: string;
  /**
   * Speaks one text.
   *
   * @returns G.711 µ-law, 8 kHz, mono, no header; never empty.
   * @throws AppError `synthesis_failed`, also when `signal` aborts; the message never holds the text.
   */
  speak(text: string, signal: AbortSignal): Promise<Uint8Array>;
  /** Stops it and waits until it has stopped. Texts not yet spoken fail. */
  close(): Promise<void>;
}
