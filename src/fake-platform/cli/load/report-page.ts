// The report of a load as one HTML file: figures, charts, and each chart as a table. Readable without a network, in light and
// dark mode, and by a screen reader. Foreign text is escaped.
import { readFile } from 'node:fs/promises';
import { escaped } from '../../../base/html-text.ts';
import type { Checked } from '../../load/criteria.ts';
import { Histogram } from '../../load/histogram.ts';
import { type LoadResult, type LoadSecond, TIMES } from '../../load/load-result.ts';
import { REPORT_SCRIPT } from './report-script.ts';
import { milliseconds, resultText, TIME_HEADS, timeRow } from './result-table.ts';

interface Series {
  readonly label: string;
  readonly dashed?: boolean;
  /** Set when the series has the second axis, for another unit. */
  readonly scale?: 'right';
}

interface Chart {
  readonly id: string;
  readonly title: string;
  readonly xLabel: string;
  readonly xTicks?: readonly { readonly at: number; readonly text: string }[];
  readonly series: readonly Series[];
  /** The row of x values, and then one row for each series. */
  readonly values: readonly (readonly (number | null)[])[];
}

/** Most rows of a chart's table. The table of a long run is thinned, the chart is not. */
const TABLE_ROWS = 120;

/** The page. @param checked - the conditions of the run. @throws Error when the chart library is not installed. */
export async function reportPage(result: LoadResult, checked: readonly Checked[] = []): Promise<string> {
  const [library, sheet] = await Promise.all(['uPlot.iife.min.js', 'uPlot.min.css'].map(libraryFile));
  const charts = chartsOf(result);
  const title = `Load on ${result.target}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${sheet ?? ''}${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(result.startedAt)}, ${escaped(result.machine.processor)}, ${String(result.machine.cores)} cores, Node ${escaped(result.machine.node)}</p>
${result.saturated ? '<p role="alert" class="void"><strong>No result:</strong> the load did not do what was asked of it.</p>' : ''}
<h2>Figures</h2>
<pre>${escaped(resultText(result, checked, false))}</pre>
${figuresTable(result)}
${charts.map(chartSection).join('\n')}
</main>
<script type="application/json" id="charts">${dataText(charts)}</script>
<script>${library ?? ''}</script>
<script>${REPORT_SCRIPT}</script>
</body>
</html>
`;
}

async function libraryFile(name: string): Promise<string> {
  return (await readFile(new URL(name, import.meta.resolve('uplot')), 'utf8')).replaceAll('</script', String.raw`<\/script`);
}

function chartsOf(result: LoadResult): readonly Chart[] {
  const { seconds } = result;
  const x = seconds.map(({ atS }) => atS);
  const over = (id: string, title: string, series: readonly (readonly [Series, (second: LoadSecond) => number | null])[]): Chart => ({
    id,
    title,
    xLabel: 'seconds since the run began',
    series: series.map(([each]) => each),
    values: [x, ...series.map(([, valueOf]) => seconds.map(valueOf))],
  });
  return [
    over('first-audio', 'Time to the first audio, ms, by the moment the call was due', [
      [{ label: 'p50' }, ({ firstAudioP50 }) => firstAudioP50],
      [{ label: 'p99' }, ({ firstAudioP99 }) => firstAudioP99],
      [{ label: 'max', dashed: true }, ({ firstAudioMax }) => firstAudioMax],
    ]),
    over('replies', 'Time to the reply, ms, by the moment the caller had finished', [
      [{ label: 'p50' }, ({ replyP50 }) => replyP50],
      [{ label: 'p99' }, ({ replyP99 }) => replyP99],
      [{ label: 'max', dashed: true }, ({ replyMax }) => replyMax],
    ]),
    percentileChart(result),
    over('calls', 'Calls', [
      [{ label: 'at once' }, ({ live }) => live],
      [{ label: 'begun', scale: 'right' }, ({ started }) => started],
      [{ label: 'failed', scale: 'right', dashed: true }, ({ failed }) => failed],
    ]),
    over('processor', 'CPU, % of a core, and memory, MB (right)', [
      [{ label: 'server CPU' }, ({ serverCpu }) => (serverCpu === null ? null : serverCpu * 100)],
      [{ label: 'server memory', scale: 'right' }, ({ serverMb }) => serverMb],
      [{ label: 'busiest worker CPU', dashed: true }, ({ generatorCpu }) => generatorCpu * 100],
    ]),
  ];
}

/** Percentiles from the median to 99.99 %, on an axis on which each further nine has the same width. */
function percentileChart(result: LoadResult): Chart {
  const nines = Array.from({ length: 38 }, (_, index) => 0.3 + index * 0.1);
  const shown = TIMES.filter(({ label, key }) => !label.startsWith(' ') && result[key].count > 0);
  return {
    id: 'percentiles',
    title: 'Percentiles, ms',
    xLabel: 'percentile',
    xTicks: [
      { at: Math.log10(2), text: '50 %' },
      { at: 1, text: '90 %' },
      { at: 2, text: '99 %' },
      { at: 3, text: '99.9 %' },
      { at: 4, text: '99.99 %' },
    ],
    series: shown.map(({ label }) => ({ label })),
    values: [
      nines,
      ...shown.map(({ key }) => {
        const histogram = Histogram.decoded(result[key].histogram);
        return nines.map((nine) => histogram.at(100 * (1 - 10 ** -nine)));
      }),
    ],
  };
}

function figuresTable(result: LoadResult): string {
  const rows = TIMES.filter(({ key }) => result[key].count > 0).map(({ label, key }) => timeRow(label.trim(), result[key]));
  return `<details><summary>Times as a table</summary>${table('What callers waited for', TIME_HEADS, rows)}</details>`;
}

function chartSection({ id, title, xLabel, xTicks, series, values }: Chart): string {
  const [x = [], ...ys] = values;
  const every = Math.max(1, Math.ceil(x.length / TABLE_ROWS));
  const rows = x.flatMap((at, index) => {
    if (index % every !== 0) return [];
    const name = xTicks === undefined ? shownValue(at) : `${(100 * (1 - 10 ** -(at ?? 0))).toFixed(3)} %`;
    return [[name, ...ys.map((row) => shownValue(row[index] ?? null))]];
  });
  const heads = [xLabel, ...series.map(({ label }) => label)];
  return `<section aria-labelledby="${id}-title">
<h2 id="${id}-title">${escaped(title)}</h2>
<div id="${id}" class="chart" role="img" aria-label="${escaped(`${title}; the same as a table below`)}"></div>
<details><summary>As a table</summary>${table(title, heads, rows)}</details>
</section>`;
}

function table(caption: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th scope="col">${escaped(text)}</th>`).join('');
  const body = rows.map(([name = '', ...cells]) => {
    return `<tr><th scope="row">${escaped(name)}</th>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`;
  });
  return `<div class="scroll"><table><caption>${escaped(caption)}</caption><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

function shownValue(value: number | null): string {
  return value === null ? '-' : Number.isInteger(value) ? String(value) : milliseconds(value);
}

/** JSON for a script element: nothing in it can close the element. */
function dataText(data: unknown): string {
  return JSON.stringify(data).replaceAll('<', String.raw`\u003c`);
}

const STYLE = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1b1b; --rule: #d5d5d5; --line-1: #0b62b4; --line-2: #b3261e; --line-3: #6b6b00; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --ink: #e8e8e8; --rule: #3c4043; --line-1: #7ab8ff; --line-2: #ff8f87; --line-3: #d8d25a; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
pre, .scroll { overflow-x: auto; }
pre { border: 1px solid var(--rule); padding: 0.75rem; font-size: 0.85rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0.5rem 0; }
th, td { border-bottom: 1px solid var(--rule); padding: 0.15rem 0.75rem; text-align: right; }
th:first-child { text-align: left; }
.void { border: 2px solid var(--line-2); padding: 0.5rem 0.75rem; }
.chart { min-height: 300px; }
`;
