// Writes what the bench found as Markdown, and puts it into docs/speech.md.
import { readFile, writeFile } from 'node:fs/promises';
import type { Cost } from './speech-cost.ts';
import type { Percentiles, Row } from './speech-score.ts';

const BEGIN = '<!-- Made by `npm run bench -- speech --write`; edits are lost. -->';
const END = '<!-- End of what was made. -->';

/** The table of rows, the table of costs, and where both come from. */
export function asMarkdown(rows: readonly Row[], costs: readonly Cost[], voices: readonly string[]): string {
  const results = table(
    ['Line', 'Utterances', 'False starts', 'Missed', 'Cut', 'Taken back', 'Start 50 / 90 %', 'End 50 / 90 %'],
    rows.map((row) => [
      row.name,
      row.utterances === 0 ? `none, ${String(row.lines)} sounds` : String(row.utterances),
      ...[row.falseStarts, row.missed, row.cut, row.resumed].map(String),
      delays(row.startMs),
      delays(row.endMs),
    ]),
  );
  const costTable = table(
    ['Line', 'Detector', 'Whole listener'],
    costs.map(({ row, detectorUs, listenerUs }) => [row, `${String(detectorUs)} µs`, `${String(listenerUs)} µs`]),
  );
  return `${results}\n\nCPU per frame of 20 ms, Node ${process.versions.node}:\n\n${costTable}\n\nVoices: ${voices.join(', ')}.`;
}

/** Replaces the made part of the file. @throws Error when the file has no place for it. */
export async function writeInto(file: string, made: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`${file} lacks the lines between which the table stands`);
  await writeFile(file, `${text.slice(0, before)}${BEGIN}\n\n${made}\n\n${text.slice(after)}`);
}

function delays(percentiles: Percentiles | undefined): string {
  if (percentiles === undefined) return '';
  return [percentiles.half, percentiles.most].map((ms) => (ms === Infinity ? 'never' : String(Math.round(ms / 10) * 10))).join(' / ');
}

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
  const lines = [line(head), line(head.map(() => '---')), ...body.map(line)];
  return `<!-- prettier-ignore-start -->\n\n${lines.join('\n')}\n\n<!-- prettier-ignore-end -->`;
}
