// Spanish: the engine's lines, and words of callers.
import { compounds, type Language } from './language.ts';

const SMALL = [
  ...['cero', 'uno', 'dos', 'tres', 'cuatro', 'cinco', 'seis', 'siete', 'ocho', 'nueve', 'diez', 'once', 'doce', 'trece', 'catorce'],
  ...['quince', 'dieciséis', 'diecisiete', 'dieciocho', 'diecinueve', 'veinte', 'veintiuno', 'veintidós', 'veintitrés', 'veinticuatro'],
  ...['veinticinco', 'veintiséis', 'veintisiete', 'veintiocho', 'veintinueve'],
];

/** The number one has three forms. */
function variants(word: string): readonly string[] {
  return word.endsWith('uno') ? ['uno', 'un', 'una'].map((one) => word.replace('uno', one)) : [word];
}

/** Spanish. */
export const ES: Language = {
  lines: {
    filler: 'Un momento, por favor.',
    apology: 'Perdone, algo ha fallado. Inténtelo de nuevo, por favor.',
    transfer: 'Perdone, esto no funciona. Le paso con una persona de nuestro equipo.',
  },
  numbers: [
    ...SMALL.map(variants),
    ...compounds(['treinta', 'cuarenta', 'cincuenta', 'sesenta', 'setenta', 'ochenta', 'noventa'], (ten, one) =>
      variants(SMALL[one] ?? '').map((word) => `${ten} y ${word}`),
    ),
  ],
  signs: { '*': ['asterisco', 'estrella'], '#': ['almohadilla', 'numeral'] },
  repeats: [
    ['doble', 2],
    ['triple', 3],
  ],
  unfinished: 'y o pero porque cuando eh pues la los las un una mis su sus a de del para por con en'.split(' '),
  answers: ['si', 'no', 'vale', 'si por favor', 'no gracias', 'gracias', 'de acuerdo', 'correcto', 'exacto', 'adios'],
};
