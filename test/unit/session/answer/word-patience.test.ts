// How long a caller who pauses is waited for, by the words before the pause.
import { describe, expect, it } from 'vitest';
import { silenceAfter } from '../../../../src/session/answer/word-patience.ts';

const SILENCES = { pauseMs: 200, finishedMs: 500, unfinishedMs: 1500 };

describe('the silence that ends an utterance', () => {
  it.each([
    ['a whole sentence', 'I would like an appointment.', {}, 'en', [0, 500]],
    ['a question', 'Do you have anything on Tuesday?', {}, 'en', [0, 500]],
    ['a whole answer without a mark', 'yes please', {}, 'en', [0, 500]],
    ['words that may go on', 'I would like an appointment', {}, 'en', undefined],
    ['a word that asks for more', 'I would like an appointment and', {}, 'en', [1500, Infinity]],
    ['such a word with a mark, which some recognizers always write', 'I would like one and.', {}, 'en', undefined],
    ['a question that ends with such a word', 'Can you tell me where it is?', {}, 'en', [0, 500]],
    ['such a word in another language', 'Ich möchte einen Termin und', {}, 'de-AT', [1500, Infinity]],
    ['an answer in another language', 'D’accord', {}, 'fr', [0, 500]],
    ['an answer of Spain', 'sí, por favor', {}, 'es-ES', [0, 500]],
    ['a short one', 'Sí.', {}, 'es', [0, 500]],
    ['a sentence that ends with a word that may stand before others', 'I will take that.', {}, 'en', [0, 500]],
    ['a sentence in a language that is not known', 'Ja, dziękuję.', {}, 'pl', [0, 500]],
    ['a group of digits that nobody has asked for', 'It is zero six one.', {}, 'en', undefined],
    ['all digits that were asked for', 'four two oh nine', { digits: 4 }, 'en', [0, 500]],
    ['a part of them', 'Four two.', { digits: 4 }, 'en', undefined],
    ['digits where only keys count', 'four two oh nine', { digits: 4, accept: 'keys' }, 'en', undefined],
    ['the one digit of a menu', 'two', { digits: 1 }, 'en', [0, 500]],
    ['no words', '', {}, 'en', undefined],
  ] as const)('after %s', (_what, text, listen, tag, expected) => {
    expect(silenceAfter(text, { kind: 'listen', ...listen }, tag, SILENCES)).toEqual(expected);
  });
});
