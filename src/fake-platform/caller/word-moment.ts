// When a word of a prompt is heard, estimated from the prompt's text and length, because audio has no word marks. Knows
// no clock; times are ms from the beginning of the reply.

/** What is known of a reply so far. */
export interface SpokenReply {
  readonly texts: readonly string[];
  /** Length of all its audio, ms. */
  readonly audioMs: number;
  /** Whether nothing more will come. */
  readonly isWhole: boolean;
}

/**
 * When the word begins: as far into the sound as its first letter is into the text. Sound without text, such as a chime,
 * and long pauses make the estimate worse.
 *
 * @param word - one word or several, in any case.
 * @returns ms; `unknown` while the reply is incomplete, `never` when its text does not contain the word.
 */
export function wordMoment({ texts, audioMs, isWhole }: SpokenReply, word: string): number | 'unknown' | 'never' {
  if (!isWhole) return 'unknown';
  const text = texts.join(' ');
  const at = text.toLowerCase().indexOf(word.toLowerCase());
  return at === -1 ? 'never' : (at / text.length) * audioMs;
}
