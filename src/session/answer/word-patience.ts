// How long to wait for a caller who pauses, depending on the words before the pause.
import { inLanguage, LANGUAGES } from '../../dialog/languages.ts';
import type { Listen } from '../../dialog/reply.ts';
import type { WordSilences } from '../settings.ts';
import { plainWords, spokenDigits } from './spoken-digits.ts';

const QUESTION_END = /[?？]["'»”)\]]*$/u;
/** A mark behind the words: recognizers of sentences write it. */
const SENTENCE_END = /[.!?。！？]["'»”)\]]*$/u;

/**
 * Silence that ends an utterance after these words, ms; undefined: what ends any.
 *
 * @param text - all that was understood up to the pause.
 * @param tag - the caller's language, BCP 47.
 */
export function silenceAfter(text: string, listen: Listen, tag: string, { finishedMs, unfinishedMs }: WordSilences): number | undefined {
  const words = plainWords(text);
  const wanted = listen.accept === 'keys' ? undefined : listen.digits;
  const digits = spokenDigits(text, tag);
  if (wanted !== undefined && digits !== undefined && digits.length >= wanted) return finishedMs;
  // Numbers are read out in groups, and recognizers write a full stop behind each.
  if (spokenDigits(words.at(-1) ?? '', tag) !== undefined) return undefined;
  const language = inLanguage(LANGUAGES, tag);
  if (QUESTION_END.test(text.trim())) return finishedMs;
  if (language?.unfinished.includes(words.at(-1) ?? '') === true) return unfinishedMs;
  const isFinished = SENTENCE_END.test(text.trim()) || language?.answers.includes(words.join(' ')) === true;
  return isFinished ? finishedMs : undefined;
}
