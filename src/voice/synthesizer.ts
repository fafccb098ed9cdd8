// The port between the prompt cache and the synthesizers.
import type { Speech } from '../dialog/reply.ts';

/** Makes speech from text. The creator closes it. */
export interface Synthesizer {
  /** Whether audio is available before the whole text is synthesized. */
  readonly speaksInPieces: boolean;
  /**
   * Speaks one text.
   *
   * @param onPiece - called with each piece of speech, the first one as early as possible. The pieces together are
   * the return value; a synthesizer without pieces never calls it.
   * @returns G.711 µ-law, 8 kHz, mono, no header; never empty.
   * @throws AppError `synthesis_failed`, also when `signal` aborts; the message never contains the text.
   */
  speak(speech: Speech, signal: AbortSignal, onPiece?: (mulaw: Uint8Array) => void): Promise<Uint8Array>;
  /** Resolves when it has stopped. Pending texts fail. */
  close(): Promise<void>;
}
