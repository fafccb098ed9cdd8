// What the caller did, in our own words. Transports map their messages to these types, which know no wire.
import type { JsonObject } from '../base/json.ts';

/** Encodings of a caller's audio (G-31). */
export type AudioEncoding = 'linear16' | 'mulaw' | 'alaw';

/** One frame of caller audio, as received. Encoding and rate are set only on frames that name them (G-32). */
export interface AudioInput {
  readonly kind: 'audio';
  /** The bytes of the message, not a copy. */
  readonly audio: Uint8Array;
  readonly encoding?: AudioEncoding;
  readonly sampleRateHz?: number;
}

/** One action of the caller or the platform. */
export type Input =
  | { readonly kind: 'session_start'; readonly name: string; readonly parameters: JsonObject }
  | AudioInput
  /** The first key was pressed; the digits follow on their own turn (G-60). */
  | { readonly kind: 'dtmf_start' }
  /** Keys as text: `0`-`9`, `*`, `#`, `A`-`D`. May be empty (G-65). */
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'no_input' }
  | { readonly kind: 'custom_event'; readonly name: string; readonly parameters: JsonObject }
  /** The caller hung up or the flow ended the session (G-74). */
  | { readonly kind: 'session_end' };

/** What a turn opens with: the start of its call, another complete input, or nothing that wants a reply yet. */
export type TurnOpening = 'start' | 'input' | 'nothing';

/** @param first - the turn's first input, if one came with its opening. */
export function turnOpening(first: Input | undefined): TurnOpening {
  switch (first?.kind) {
    case 'session_start':
      return 'start';
    case 'dtmf':
    case 'no_input':
    case 'custom_event':
      return 'input';
    default:
      return 'nothing';
  }
}
