// Reads recognized words as keys: "four two, oh nine" is 4209, "vingt-trois" is 23. Only when all words are digits or numbers.
import { inLanguage, LANGUAGES } from '../../dialog/languages.ts';
import type { Language } from '../../dialog/languages/language.ts';
import { MAX_DIGITS } from '../../dialog/reply.ts';

/** The keys for the words of a language. */
interface Vocabulary {
  /** Keys by number words; several words of one number are separated by a blank. */
  readonly keys: ReadonlyMap<string, string>;
  readonly repeats: ReadonlyMap<string, number>;
  /** Largest number of words in one number. */
  readonly longest: number;
}

const VOCABULARIES: ReadonlyMap<string, Vocabulary> = new Map([...LANGUAGES].map(([tag, language]) => [tag, vocabularyOf(language)]));
/** For unknown languages: numerals only. */
const NUMERALS: Vocabulary = { keys: new Map(), repeats: new Map(), longest: 1 };

/**
 * The keys of a recognized text; undefined if it is empty or contains anything else.
 *
 * @param tag - the caller's language, BCP 47.
 */
export function spokenDigits(text: string, tag: string): string | undefined {
  const vocabulary = inLanguage(VOCABULARIES, tag) ?? NUMERALS;
  const words = plainWords(text);
  let digits = '';
  for (let at = 0; at < words.length;) {
    const repeat = vocabulary.repeats.get(words[at] ?? '');
    const found = keysAt(words, repeat === undefined ? at : at + 1, vocabulary);
    // Only a single digit can be repeated: "double four", not "double 42".
    if (found === undefined || (repeat !== undefined && found.keys.length > 1)) return undefined;
    digits += found.keys.repeat(repeat ?? 1);
    at = found.next;
  }
  return digits === '' || digits.length > MAX_DIGITS ? undefined : digits;
}

/** The keys of the longest number that begins at a word, and the index of the word after it. */
function keysAt(
  words: readonly string[],
  at: number,
  { keys, longest }: Vocabulary,
): { readonly keys: string; readonly next: number } | undefined {
  for (let length = Math.min(longest, words.length - at); length > 0; length--) {
    const said = words.slice(at, at + length).join(' ');
    const found = /^\d+$/u.test(said) ? said : keys.get(said);
    if (found !== undefined) return { keys: found, next: at + length };
  }
  return undefined;
}

function vocabularyOf({ numbers, signs, repeats }: Language): Vocabulary {
  const named = [...numbers.entries(), ...Object.entries(signs)];
  const keys = new Map(named.flatMap(([key, words]) => words.map((word) => [plain(word), String(key)] as const)));
  const longest = Math.max(...[...keys.keys()].map((said) => said.split(' ').length));
  return { keys, longest, repeats: new Map(repeats) };
}

/** The words of a text in lower case, without accents and punctuation. */
export function plainWords(text: string): readonly string[] {
  return plain(text).split(' ');
}

/** The text in lower case without accents, its words separated by single blanks. */
function plain(text: string): string {
  const letters = text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('’', "'");
  return letters.replaceAll(/[\s.,;:!?¡¿()–-]+/gu, ' ').trim();
}
