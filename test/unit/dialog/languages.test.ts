import { describe, expect, it } from 'vitest';
import { inLanguage, LANGUAGE_TAG, LANGUAGES } from '../../../src/dialog/languages.ts';

/** Some numbers as a dictionary writes them. */
const SPOT_CHECKS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  en: { 0: 'zero', 11: 'eleven', 20: 'twenty', 42: 'forty two', 99: 'ninety nine' },
  es: { 0: 'cero', 15: 'quince', 22: 'veintidós', 30: 'treinta', 31: 'treinta y uno', 99: 'noventa y nueve' },
  de: { 0: 'null', 17: 'siebzehn', 21: 'einundzwanzig', 32: 'zweiunddreißig', 99: 'neunundneunzig' },
  fr: {
    0: 'zéro',
    17: 'dix sept',
    21: 'vingt et un',
    71: 'soixante et onze',
    80: 'quatre vingts',
    81: 'quatre vingt un',
    91: 'quatre vingt onze',
  },
};

describe.each([...LANGUAGES])('the language %s', (tag, { numbers, lines, signs }) => {
  it('has a word for each number from 0 to 99, and none for two', () => {
    expect(numbers).toHaveLength(100);
    const words = numbers.flat();
    expect(words.filter((word) => word.trim() === '')).toEqual([]);
    expect(new Set(words).size).toBe(words.length);
    for (const [value, word] of Object.entries(SPOT_CHECKS[tag] ?? {})) expect(numbers[Number(value)]).toContain(word);
  });

  it('has its lines, and words for both signs', () => {
    for (const line of Object.values(lines)) expect(line).toMatch(/^\p{Lu}.*[.]$/u);
    expect([...signs['*'], ...signs['#']].length).toBeGreaterThanOrEqual(2);
  });
});

describe('a language tag', () => {
  it.each(['en', 'es-MX', 'zh-Hant-TW', 'fil'])('%s is one', (tag) => {
    expect(tag).toMatch(LANGUAGE_TAG);
  });

  it.each(['', 'e', 'english', 'es_MX', 'es-', 'es mx'])('"%s" is none', (tag) => {
    expect(tag).not.toMatch(LANGUAGE_TAG);
  });

  it('finds what there is for it, else for its language', () => {
    const byTag = new Map([
      ['es', 'Spain'],
      ['es-mx', 'Mexico'],
    ]);
    expect(['es-MX', 'es-AR', 'ES', 'fr'].map((tag) => inLanguage(byTag, tag))).toEqual(['Mexico', 'Spain', 'Spain', undefined]);
  });
});
