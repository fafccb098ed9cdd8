// Reads recognized words as keys: "four two, oh nine" is 4209. Only where nothing but digits was said; anything else is
// for the bot to understand.
import { MAX_DIGITS } from '../../dialog/reply.ts';

const DIGIT_OF_WORD: ReadonlyMap<string, string> = new Map([
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'].map((word, digit): [string, string] => [
    word,
    String(digit),
  ]),
  ['oh', '0'],
  ['o', '0'],
  ['nought', '0'],
  ['star', '*'],
  ['pound', '#'],
  ['hash', '#'],
]);
const REPEATS: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
]);

/** The keys that a recognized text spells; undefined when it holds anything else, or nothing. */
export function spokenDigits(text: string): string | undefined {
  let digits = '';
  let repeat = 1;
  for (const word of text.toLowerCase().split(/[\s.,;:!?()–-]/u)) {
    if (word === '') continue;
    const times = REPEATS.get(word);
    if (times !== undefined && repeat === 1) {
      repeat = times;
      continue;
    }
    const digit = /^\d+$/.test(word) ? word : DIGIT_OF_WORD.get(word);
    // Only one digit can be doubled: "double 42" is no number anybody dictates.
    if (digit === undefined || (repeat > 1 && digit.length > 1)) return undefined;
    digits += digit.repeat(repeat);
    repeat = 1;
  }
  return digits === '' || repeat > 1 || digits.length > MAX_DIGITS ? undefined : digits;
}
