// Rows of text as aligned columns for a terminal.

/** The rows, one per line. Each column is as wide as its widest cell; the last column is not padded. */
export function alignedRows(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<readonly number[]>((known, row) => row.map((cell, column) => Math.max(cell.length, known[column] ?? 0)), []);
  return rows
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
