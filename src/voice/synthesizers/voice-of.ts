// Selects the configured voice for a text.
import { inLanguage } from '../../dialog/languages.ts';
import type { VoiceChoice } from '../../dialog/reply.ts';

export interface ConfiguredVoices {
  /** The voice for all other texts; undefined: the synthesizer's own choice. */
  readonly voice?: string | undefined;
  /** Voices by language; tags in lower case. */
  readonly voices?: ReadonlyMap<string, string>;
}

/** The voice that a text names, else the one for its language, else the usual one. */
export function voiceOf({ voice, language }: VoiceChoice, { voice: usual, voices = new Map() }: ConfiguredVoices): string | undefined {
  return voice ?? (language === undefined ? undefined : inLanguage(voices, language)) ?? usual;
}
