// Words of the other side, fit for a terminal.

/** A text on one line, of at most `most` characters, without anything that steers a terminal or turns its writing around. */
export function oneLine(text: string, most: number): string {
  // Cut before, too: a server may send megabytes.
  const short = text.slice(0, most * 4).replaceAll(/\p{C}+/gu, ' ');
  // A cut may leave half a character.
  return short
    .slice(0, most)
    .replace(/\p{Cs}$/u, '')
    .trim();
}
