import { describe, expect, it } from 'vitest';
import { oneLine } from '../../../src/base/one-line.ts';

describe('words of the other side', () => {
  it.each([
    ['plain words, also ß and 😀', 'plain words, also ß and 😀'],
    ['two\r\nlines\ttab', 'two lines tab'],
    ['\u001b[31mred\u001b[0m\u0007', '[31mred [0m'],
    ['\u009b2Jgone', '2Jgone'],
    ['right\u202eto left', 'right to left'],
    ['half \ud83d', 'half'],
  ])('are one line that steers no terminal: %j', (text, shown) => {
    expect(oneLine(text, 100)).toBe(shown);
  });

  it('are cut, however long they are, and never within a character', () => {
    expect(oneLine('x'.repeat(20_000_000), 400)).toBe('x'.repeat(400));
    expect(oneLine('abc😀', 4)).toBe('abc');
  });
});
