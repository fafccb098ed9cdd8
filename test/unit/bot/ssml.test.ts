import { describe, expect, it } from 'vitest';
import { say } from '../../../src/bot/index.ts';
import { wordsOf } from '../../../src/bot/ssml.ts';

describe('the words of SSML', () => {
  it.each([
    ['<speak>Hello.</speak>', 'Hello.'],
    ['  <speak version="1.1" xml:lang="en">Your code: <say-as interpret-as="characters">47</say-as>.</speak>\n', 'Your code: 47 .'],
    ['<speak>One<break time="300ms"/>two <!-- <never> said --> three</speak>', 'One two three'],
    ['<speak><sub alias="World Wide Web">WWW</sub> &amp; more</speak>', 'World Wide Web & more'],
    ['<speak>&lt;3 &quot;a&quot; &#233; &#x1F600;</speak>', '<3 "a" é 😀'],
    ['<speak>&#x110000;</speak>', '\uFFFD'],
    ['<speak></speak>', ''],
  ])('%s', (ssml, words) => {
    expect(wordsOf(ssml)).toBe(words);
  });

  it.each([
    'Hello.',
    '<speak>Hello.',
    '<say>Hello.</say>',
    '<speak>Fish & chips</speak>',
    '<speak>1 < 2</speak>',
    '<speak>&uuml;</speak>',
    '',
  ])('refuses %s', (ssml) => {
    expect(() => wordsOf(ssml)).toThrow(TypeError);
  });
});

describe('a text', () => {
  it('carries its voice, its language and its SSML, and its words for those who take none', () => {
    const { prompts } = say('Hello.').say('<speak>Hola <break/> Ana.</speak>', {
      ssml: true,
      language: 'es',
      voice: 'lola',
      bargeIn: false,
    });
    expect(prompts).toStrictEqual([
      { kind: 'text', text: 'Hello.', bargeIn: true },
      { kind: 'text', text: 'Hola Ana.', ssml: '<speak>Hola <break/> Ana.</speak>', bargeIn: false, language: 'es', voice: 'lola' },
    ]);
  });
});
