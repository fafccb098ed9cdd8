// Prepares a text for a synthesizer of ASCII English and splits long texts at sentence ends. Pure; never logs or
// quotes the text in an error.
import { AppError } from '../../base/errors.ts';

/** Longest text of one prompt, characters; also the limit of the bot API. */
export const MAX_TEXT_CHARS = 2000;
/**
 * Longest piece for one run of the synthesizer, characters. Measured 2026-11-21: memory grows from 22 MB with 100 characters to
 * 65 MB with 1,000, and so does the time per second of speech.
 */
const PIECE_CHARS = 240;

/** How letters and signs without an ASCII base letter are spoken. */
const SAID_AS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  Ł: 'L',
  ı: 'i',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '‑': '-',
  '—': ', ',
  '…': '... ',
  '⁄': '/',
  '×': ' times ',
  '÷': ' divided by ',
  '−': '-',
  '°': ' degrees ',
  '€': ' euro ',
  '£': ' pound ',
  '¥': ' yen ',
};

/**
 * Splits the text into pieces of printable ASCII for one run each.
 *
 * Drops accents and replaces full-width forms and common signs. Other characters outside ASCII and control characters
 * become blanks.
 *
 * @returns at least one piece.
 * @throws AppError `synthesis_failed` when the text is too long or contains no letter or digit that can be spoken.
 */
export function spokenPieces(text: string): readonly string[] {
  if (text.length > MAX_TEXT_CHARS) {
    throw new AppError('synthesis_failed', `a text of more than ${String(MAX_TEXT_CHARS)} characters is not spoken`, {
      details: { chars: text.length },
    });
  }
  const plain = asciiOf(text);
  if (!/[A-Za-z0-9]/.test(plain)) {
    throw new AppError('synthesis_failed', 'the text contains no letter or digit that the synthesizer can speak', {
      details: { chars: text.length },
    });
  }
  return cut(plain);
}

function asciiOf(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/gu, (sign) => SAID_AS[sign] ?? ' ')
    .replace(/ +/g, ' ')
    .trim();
}

function cut(plain: string): readonly string[] {
  const pieces: string[] = [];
  let rest = plain;
  while (rest.length > PIECE_CHARS) {
    const end = endOfPiece(rest);
    pieces.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  if (rest !== '') pieces.push(rest);
  // A piece without letters and digits would be silent.
  return pieces.filter((piece) => /[A-Za-z0-9]/.test(piece));
}

/** Length of the first piece of a long text: up to the last end of a sentence that fits, else of a clause, a word, or anywhere. */
function endOfPiece(text: string): number {
  const head = text.slice(0, PIECE_CHARS + 1);
  for (const ending of [/[.!?]["')]{0,2} /g, /[,;:] /g, / /g]) {
    const last = [...head.matchAll(ending)].at(-1);
    if (last !== undefined) return last.index + last[0].length;
  }
  return PIECE_CHARS;
}
