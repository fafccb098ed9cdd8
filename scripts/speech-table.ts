// Writes what the bench found as Markdown.
import { table } from './made-part.ts';
import type { Cost } from './speech-cost.ts';
import type { Percentiles, Row } from './speech-score.ts';

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

function delays(percentiles: Percentiles | undefined): string {
  if (percentiles === undefined) return '';
  return [percentiles.half, percentiles.most].map((ms) => (ms === Infinity ? 'never' : String(Math.round(ms / 10) * 10))).join(' / ');
}
