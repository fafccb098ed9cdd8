// Makes foreign text safe for a terminal.

/**
 * A text on one line, of at most `most` characters, without control characters and without characters that change the direction of
 * writing.
 */
export function oneLine(text: string, most: number): string {
  // Cut before replacing, too: a server may send megabytes.
  const short = text.slice(0, most * 4).replaceAll(/\p{C}+/gu, ' ');
  // A cut may leave half of a surrogate pair.
  return short
    .slice(0, most)
    .replace(/\p{Cs}$/u, '')
    .trim();
}
