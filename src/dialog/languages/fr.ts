// French: the engine's lines, and words of callers, also in Belgium and Switzerland.
import { compounds, type Language } from './language.ts';

const SMALL = [
  ...['zéro', 'un', 'deux', 'trois', 'quatre', 'cinq', 'six', 'sept', 'huit', 'neuf', 'dix', 'onze', 'douze', 'treize', 'quatorze'],
  ...['quinze', 'seize', 'dix sept', 'dix huit', 'dix neuf'],
];

/** `vingt et un`, but `vingt deux`. */
function regular(ten: string, one: number): string {
  return one === 1 ? `${ten} et un` : `${ten} ${SMALL[one] ?? ''}`;
}

/** The words for 70 to 79 or 90 to 99, in France and, with words of their own for the tens, in Belgium and Switzerland. */
function fromTen(before: string, ten: string): string[][] {
  return Array.from({ length: 10 }, (_, one) => [
    before === 'soixante' && one === 1 ? 'soixante et onze' : `${before} ${SMALL[10 + one] ?? ''}`,
    one === 0 ? ten : regular(ten, one),
  ]);
}

/** French. */
export const FR: Language = {
  lines: {
    filler: 'Un instant, s’il vous plaît.',
    apology: 'Désolé, quelque chose n’a pas fonctionné. Veuillez réessayer.',
    transfer: 'Désolé, cela ne fonctionne pas. Je vous mets en relation avec un conseiller.',
  },
  numbers: [
    ...SMALL.map((word) => (word === 'un' ? ['un', 'une'] : [word])),
    ...compounds(['vingt', 'trente', 'quarante', 'cinquante', 'soixante'], (ten, one) => [regular(ten, one)]),
    ...fromTen('soixante', 'septante'),
    ['quatre vingts', 'quatre vingt', 'huitante'],
    ...SMALL.slice(1, 10).map((word, index) => [`quatre vingt ${word}`, regular('huitante', index + 1)]),
    ...fromTen('quatre vingt', 'nonante'),
  ],
  signs: { '*': ['étoile', 'astérisque'], '#': ['dièse'] },
  repeats: [
    ['double', 2],
    ['triple', 3],
  ],
  unfinished: 'et ou mais parce quand euh alors le les un une des mon ma mes votre a de du pour par avec chez dans je'.split(' '),
  answers: ['oui', 'si', 'non', 'oui merci', 'non merci', 'merci', "d'accord", 'exact', "c'est ca", 'au revoir'],
};
