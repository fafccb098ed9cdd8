// English: the engine's lines, and words of callers.
import { compounds, type Language } from './language.ts';

const SMALL = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve', 'thirteen'],
  ...['fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
];

/** English. */
export const EN: Language = {
  lines: {
    filler: 'One moment, please.',
    apology: 'Sorry, something went wrong. Please try again.',
    transfer: 'Sorry, this is not working. I will connect you to a colleague.',
  },
  numbers: [
    ['zero', 'oh', 'o', 'nought'],
    ...SMALL.slice(1).map((word) => [word]),
    ...compounds(['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'], (ten, one) => [
      `${ten} ${SMALL[one] ?? ''}`,
    ]),
  ],
  signs: { '*': ['star', 'asterisk'], '#': ['pound', 'hash'] },
  repeats: [
    ['double', 2],
    ['triple', 3],
  ],
  unfinished: 'and or but so because if which when um uh er the a an my your our his her their to of for from'.split(' '),
  answers: [
    'yes',
    'no',
    'yeah',
    'okay',
    'ok',
    'yes please',
    'no thanks',
    'no thank you',
    'thank you',
    'that is right',
    "that's right",
    'correct',
    'goodbye',
    'bye',
  ],
};
