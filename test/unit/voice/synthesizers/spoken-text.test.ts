import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { MAX_TEXT_CHARS, spokenPieces } from '../../../../src/voice/synthesizers/spoken-text.ts';

describe('spokenPieces', () => {
  it('leaves plain English alone', () => {
    expect(spokenPieces('Welcome. Press 1, or say "help"!')).toEqual(['Welcome. Press 1, or say "help"!']);
  });

  it.each([
    ['accents', 'Café Zoë, naïve', 'Cafe Zoe, naive'],
    ['letters without a base letter', 'Straße Øre', 'Strasse Ore'],
    ['curly quotes and dashes', '“It’s 5–7” — now…', '"It\'s 5-7" , now...'],
    ['signs that are said', '5 € and 3° × 2', '5 euro and 3 degrees times 2'],
    ['full-width digits', '１２３', '123'],
    ['control characters', 'one\u0000two\n\tthree\u001b[0m', 'one two three [0m'],
    ['lone surrogates', 'a\ud800b', 'a b'],
    ['foreign scripts and emoji', 'Hello 世界 👋 there', 'Hello there'],
  ])('makes %s speakable', (_, text, expected) => {
    expect(spokenPieces(text)).toEqual([expected]);
  });

  it.each(['', '   ', '...', '世界', '👋', '\u0000'])('refuses %j, which holds nothing to speak, without quoting it', (text) => {
    expect(() => spokenPieces(text)).toThrow(
      expect.objectContaining({ code: 'synthesis_failed', details: { chars: text.length } }) as AppError,
    );
  });

  it('refuses a text over the limit and takes one at the limit', () => {
    expect(() => spokenPieces('a'.repeat(MAX_TEXT_CHARS + 1))).toThrow(AppError);
    expect(spokenPieces('a'.repeat(MAX_TEXT_CHARS)).join('')).toHaveLength(MAX_TEXT_CHARS);
  });

  it('cuts a long text after the last sentence that fits', () => {
    const sentence = 'This sentence is exactly as long as it needs to be for a test. ';
    const pieces = spokenPieces(sentence.repeat(10));
    expect(pieces).toHaveLength(4);
    for (const piece of pieces) expect(piece).toMatch(/test\.$/);
  });

  it('cuts a long sentence after a clause, and one without clauses after a word', () => {
    expect(spokenPieces(`${'word '.repeat(30)}here, ${'more '.repeat(30)}`)[0]).toMatch(/here,$/);
    expect(spokenPieces('longword '.repeat(40).trim())[0]).toMatch(/^(longword )*longword$/);
  });

  it('never loses a letter or digit, and never makes a piece that is too long, unprintable or mute', () => {
    const letters = (text: string): string => text.replace(/[^A-Za-z0-9]/g, '');
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: MAX_TEXT_CHARS, size: 'max' }), (text) => {
        fc.pre(letters(text) !== '');
        const pieces = spokenPieces(text);
        expect(letters(pieces.join(''))).toBe(letters(text));
        for (const piece of pieces) expect(piece).toMatch(/^(?=.*[A-Za-z0-9])[\x20-\x7e]{1,241}$/);
      }),
      { numRuns: 200 },
    );
  });

  it('takes no longer for a text made to be slow to cut', () => {
    const before = performance.now();
    spokenPieces(`${".'".repeat(MAX_TEXT_CHARS / 2 - 1)}a`);
    expect(performance.now() - before).toBeLessThan(1000);
  });
});
