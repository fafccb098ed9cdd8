// Speaks a text while it is written, as a language model writes it.
import { SentenceCutter, type CutOptions } from './sentence-cutter.ts';
import { say, type SayOptions, type Saying } from './saying.ts';

/** See {@link speak}. */
export interface SpeakOptions extends Omit<SayOptions, 'ssml'>, CutOptions {}

/**
 * Speaks a text while it is written, sentence by sentence, in a generator. Returns the whole text.
 *
 * @example
 * yield* speak(written(text, signal), { leastChars: 20 });
 */
export async function* speak(
  text: AsyncIterable<string> | Iterable<string>,
  { leastChars, firstClauseChars, ...options }: SpeakOptions = {},
): AsyncGenerator<Saying, string> {
  const cutter = new SentenceCutter({
    ...(leastChars !== undefined && { leastChars }),
    ...(firstClauseChars !== undefined && { firstClauseChars }),
  });
  let whole = '';
  for await (const part of text) {
    whole += part;
    for (const sentence of cutter.push(part)) yield say(sentence, { cache: false, ...options });
  }
  for (const sentence of cutter.rest()) yield say(sentence, { cache: false, ...options });
  return whole;
}
