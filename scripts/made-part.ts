// Parts of pages that a benchmark makes: tables in Markdown, between two lines that say who made them.

const END = '<!-- End of what was made. -->';

/** Replaces such a part. @param by - what is behind `npm run bench --`, as its first line says. @throws Error when the page lacks it. */
export function withMadePart(page: string, by: string, made: string): string {
  const begin = `<!-- Made by \`npm run bench -- ${by}\`; edits are lost. -->`;
  const [before, after] = [page.indexOf(begin), page.indexOf(END, Math.max(0, page.indexOf(begin)))];
  if (before < 0 || after < 0) throw new Error(`the page lacks the lines between which the part of ${by} stands`);
  return `${page.slice(0, before)}${begin}\n\n${made}\n\n${page.slice(after)}`;
}

/** A table that the formatter leaves alone. */
export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
  const lines = [line(head), line(head.map(() => '---')), ...body.map(line)];
  return `<!-- prettier-ignore-start -->\n\n${lines.join('\n')}\n\n<!-- prettier-ignore-end -->`;
}
