// Reads recognized words as keys: "four two, oh nine" is 4209. Only if nothing but digits was said.
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

/** The keys of a recognized text; undefined if it is empty or contains anything else. */
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
    // Only a single digit can be doubled, not "double 42".
    if (digit === undefined || (repeat > 1 && digit.length > 1)) return undefined;
    digits += digit.repeat(repeat);
    repeat = 1;
  }
  return digits === '' || repeat > 1 || digits.length > MAX_DIGITS ? undefined : digits;
}
