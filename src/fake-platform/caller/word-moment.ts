// When a word of a prompt is heard, guessed from the prompt's text and length: nobody marks words in audio. Knows no
// clock; times are ms from the beginning of the reply.

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
 * moves the guess; so do long pauses.
 *
 * @param word - one word or several, in any case.
 * @returns ms; `unknown` while the reply is not whole, `never` when its text does not hold the word.
 */
export function wordMoment({ texts, audioMs, isWhole }: SpokenReply, word: string): number | 'unknown' | 'never' {
  if (!isWhole) return 'unknown';
  const text = texts.join(' ');
  const at = text.toLowerCase().indexOf(word.toLowerCase());
  return at === -1 ? 'never' : (at / text.length) * audioMs;
}
