// One utterance of the caller: the audio between speech start and speech end.

/** One utterance of the caller, with the pre-roll before its start. */
export interface Utterance {
  /** G.711 µ-law, 8 kHz, mono, no header. */
  readonly mulaw: Uint8Array;
  readonly durationMs: number;
}
