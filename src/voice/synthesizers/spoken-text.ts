// Makes a text speakable by a synthesizer that knows English in ASCII, and cuts long texts at the ends of sentences.
// Pure; never logs and never quotes the text in an error.
import { AppError } from '../../base/errors.ts';

/** Longest text of one prompt, characters; the bot API lets no longer one through. */
export const MAX_TEXT_CHARS = 2000;
/**
 * Longest piece that is spoken in one go, characters. Measured 2026-11-21: the synthesizer's memory grows from 22 MB with
 * 100 characters to 65 MB with 1,000, and its time per second of speech grows with it.
 */
const PIECE_CHARS = 240;

/** Letters and signs that have no ASCII base letter, and how they are said. */
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
 * The text as pieces of printable ASCII, each short enough to be spoken in one go.
 *
 * Accents are dropped, full-width forms and common signs are replaced, everything else outside ASCII and every control
 * character becomes a blank.
 *
 * @returns at least one piece.
 * @throws AppError `synthesis_failed` when the text is too long or holds no letter and no digit that can be spoken.
 */
export function spokenPieces(text: string): readonly string[] {
  if (text.length > MAX_TEXT_CHARS) {
    throw new AppError('synthesis_failed', `a text of more than ${String(MAX_TEXT_CHARS)} characters is not spoken`, {
      details: { chars: text.length },
    });
  }
  const plain = asciiOf(text);
  if (!/[A-Za-z0-9]/.test(plain)) {
    throw new AppError('synthesis_failed', 'the text holds no letter or digit that the synthesizer can speak', {
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
  // A piece of signs alone would be spoken as silence.
  return pieces.filter((piece) => /[A-Za-z0-9]/.test(piece));
}

/** Where the first piece of a long text ends: after the last sentence that fits, else clause, else word, else anywhere. */
function endOfPiece(text: string): number {
  const head = text.slice(0, PIECE_CHARS + 1);
  for (const ending of [/[.!?]["')]{0,2} /g, /[,;:] /g, / /g]) {
    const last = [...head.matchAll(ending)].at(-1);
    if (last !== undefined) return last.index + last[0].length;
  }
  return PIECE_CHARS;
}
