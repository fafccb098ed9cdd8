import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SentenceCutter, type CutOptions } from '../../../src/bot/sentence-cutter.ts';

/** The pieces of a text that comes letter by letter. */
function cut(text: string, options: CutOptions = {}): readonly string[] {
  const cutter = new SentenceCutter(options);
  return [...Array.from(text).flatMap((letter) => cutter.push(letter)), ...cutter.rest()];
}

const SENTENCES: CutOptions = { firstClauseChars: 0 };

describe('a text that is cut while it is written', () => {
  it.each([
    ['Your order left today. It arrives tomorrow!', ['Your order left today.', 'It arrives tomorrow!']],
    ['Yes. Sure. I can do that for you.', ['Yes. Sure. I can do that for you.']],
    ['He said "come in." Then he left the room.', ['He said "come in."', 'Then he left the room.']],
    ['It costs 3.50 euros at shop.example.com today. Fine?', ['It costs 3.50 euros at shop.example.com today.', 'Fine?']],
    ['Please ask Dr. Miller or Prof. Jones. They know.', ['Please ask Dr. Miller or Prof. Jones.', 'They know.']],
    ['Das ist am 3. Mai um neun Uhr. Passt das?', ['Das ist am 3. Mai um neun Uhr.', 'Passt das?']],
    ['First line of it\nsecond line of it', ['First line of it', 'second line of it']],
    ['是的，我可以帮您安排一个时间。请问什么时候方便？', ['是的，我可以帮您安排一个时间。', '请问什么时候方便？']],
    ['Wait… what was that? Hello there, caller.', ['Wait… what was that?', 'Hello there, caller.']],
    ['   ', []],
    ['No end', ['No end']],
  ])('%s', (text, pieces) => {
    expect(cut(text, SENTENCES)).toEqual(pieces);
  });

  it('begins with a clause when the first sentence is long, and only then', () => {
    const text =
      'I have looked at all the appointments of next week, and there are two that would suit you, Tuesday and Friday. Both are at nine.';
    expect(cut(text)).toEqual([
      'I have looked at all the appointments of next week,',
      'and there are two that would suit you, Tuesday and Friday.',
      'Both are at nine.',
    ]);
    expect(cut('Well, Tuesday would be fine. Friday, too, I think so.')).toEqual([
      'Well, Tuesday would be fine.',
      'Friday, too, I think so.',
    ]);
  });

  it('gives a sentence as soon as the blank behind it is there, and not before', () => {
    const cutter = new SentenceCutter(SENTENCES);
    expect(cutter.push('Your order left today.')).toEqual([]);
    expect(cutter.push(' It')).toEqual(['Your order left today.']);
    expect(cutter.rest()).toEqual(['It']);
    expect(cutter.rest()).toEqual([]);
  });

  it('cuts what has no end between two words, or in the middle of one', () => {
    const words = 'word '.repeat(300);
    for (const piece of cut(words, SENTENCES)) expect(piece.length).toBeLessThanOrEqual(500);
    expect(cut('x'.repeat(1200), SENTENCES).map(({ length }) => length)).toEqual([500, 500, 200]);
  });

  it('loses nothing but blanks, whatever is written and in whatever parts', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'B', '3', '.', '!', ',', ' ', '\n', '"', 'é'), maxLength: 30 });
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 40 }), (parts) => {
        const cutter = new SentenceCutter();
        const pieces = [...parts.flatMap((part) => cutter.push(part)), ...cutter.rest()];
        expect(pieces.join('').replaceAll(/\s/gu, '')).toBe(parts.join('').replaceAll(/\s/gu, ''));
        expect(pieces.filter((piece) => piece !== piece.trim() || piece === '')).toEqual([]);
      }),
    );
  });
});
