// German: the engine's lines, and words of callers.
import { compounds, type Language } from './language.ts';

const SMALL = [
  ...['null', 'eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun', 'zehn', 'elf', 'zwölf', 'dreizehn', 'vierzehn'],
  ...['fünfzehn', 'sechzehn', 'siebzehn', 'achtzehn', 'neunzehn'],
];

/** The variants of a number word. On the telephone many say `zwo` for `zwei`. */
function withZwo(word: string): readonly string[] {
  return word.startsWith('zwei') ? [word, word.replace('zwei', 'zwo')] : [word];
}

/** German. */
export const DE: Language = {
  lines: {
    filler: 'Einen Moment, bitte.',
    apology: 'Entschuldigung, da ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal.',
    transfer: 'Entschuldigung, das funktioniert gerade nicht. Ich verbinde Sie mit einer Kollegin oder einem Kollegen.',
  },
  numbers: [
    ...SMALL.map((word) => (word === 'eins' ? ['eins', 'ein', 'eine'] : withZwo(word))),
    ...compounds(['zwanzig', 'dreißig', 'vierzig', 'fünfzig', 'sechzig', 'siebzig', 'achtzig', 'neunzig'], (ten, one) =>
      withZwo(`${one === 1 ? 'ein' : (SMALL[one] ?? '')}und${ten}`),
    ),
  ],
  signs: { '*': ['stern', 'sternchen'], '#': ['raute'] },
  repeats: [
    ['doppel', 2],
    ['zweimal', 2],
    ['dreimal', 3],
  ],
  unfinished: 'und oder aber weil wenn dass damit ah ahm also einen einem einer mein meine meinen von fur bei im am um'.split(' '),
  answers: ['ja', 'nein', 'ja bitte', 'nein danke', 'danke', 'okay', 'ok', 'genau', 'richtig', 'stimmt', 'auf wiederhoren', 'tschuss'],
};
