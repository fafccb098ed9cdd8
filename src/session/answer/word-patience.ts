// How long to wait for a caller who pauses, depending on the words before the pause.
import { inLanguage, LANGUAGES } from '../../dialog/languages.ts';
import type { Listen } from '../../dialog/reply.ts';
import type { WordSilences } from '../settings.ts';
import { plainWords, spokenDigits } from './spoken-digits.ts';

const QUESTION_END = /[?？]["'»”)\]]*$/u;
/** Punctuation that ends a sentence, as some recognizers write it. */
const SENTENCE_END = /[.!?。！？]["'»”)\]]*$/u;

/** The least and the longest silence that ends an utterance, ms. */
export type SilenceBounds = readonly [leastMs: number, mostMs: number];

/**
 * Bounds of the silence that ends an utterance after these words; undefined: the words do not decide it.
 *
 * @param text - all words recognized up to the pause.
 * @param tag - the caller's language, BCP 47.
 */
export function silenceAfter(
  text: string,
  listen: Listen,
  tag: string,
  { finishedMs, unfinishedMs }: WordSilences,
): SilenceBounds | undefined {
  const finished: SilenceBounds = [0, finishedMs];
  const words = plainWords(text);
  const wanted = listen.accept === 'keys' ? undefined : listen.digits;
  const digits = spokenDigits(text, tag);
  if (wanted !== undefined && digits !== undefined && digits.length >= wanted) return finished;
  // Numbers are read out in groups, and recognizers write a full stop after each group.
  if (spokenDigits(words.at(-1) ?? '', tag) !== undefined) return undefined;
  const language = inLanguage(LANGUAGES, tag);
  const isMarked = SENTENCE_END.test(text.trim());
  // Some recognizers write a full stop after every text, but a question mark only when they mean it.
  if (QUESTION_END.test(text.trim())) return finished;
  if (language?.unfinished.includes(words.at(-1) ?? '') === true) return isMarked ? undefined : [unfinishedMs, Infinity];
  return isMarked || language?.answers.includes(words.join(' ')) === true ? finished : undefined;
}
