// The results of evaluations as one HTML file: a table of the tests, and for every run its verdict, transcript, waits and recording.
// Without scripts; all foreign text is escaped.
import path from 'node:path';
import { escaped } from '../../base/html-text.ts';
import { figuresOf, type EvalResult } from './eval-report.ts';
import type { EvaluatedRun } from './evaluated.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8886; --bad: #c62828; --open: #b26a00; --good: #2e7d32; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --open: #ffcc80; --good: #81c784; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.6rem; border-bottom: 1px solid var(--line); }
.passed { color: var(--good); } .failed, .vetoed { color: var(--bad); } .unjudged, .broken { color: var(--open); }
details { border-bottom: 1px solid var(--line); padding: 0.35rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; } dd { margin: 0; } dt { font-weight: 600; }
audio { width: 100%; }
`;

/** The page. @param folder - of the HTML file; links to recordings are relative to it. */
export function evalPage(results: readonly EvalResult[], folder: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; media-src 'self' file:">
<title>Evaluation</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Evaluation</h1>
<table><thead><tr><th scope="col">Test</th><th scope="col">Passed</th><th scope="col">Rate</th><th scope="col">Answers</th><th scope="col">Models</th></tr></thead><tbody>
${results.map((result, index) => row(result, index)).join('\n')}
</tbody></table>
${results.map((result, index) => section(result, index, folder)).join('\n')}
</body>
</html>
`;
}

function row(result: EvalResult, index: number): string {
  const { test, isPassed } = result;
  const cells = figuresOf(result).map((text) => `<td>${escaped(text)}</td>`);
  return `<tr><td><a class="${isPassed ? 'passed' : 'failed'}" href="#test-${String(index)}">${escaped(test.name)}</a></td>${cells.join('')}</tr>`;
}

function section({ test, evaluated, isPassed }: EvalResult, index: number, folder: string): string {
  return `<h2 id="test-${String(index)}" class="${isPassed ? 'passed' : 'failed'}">${escaped(test.name)}</h2>
<p>${escaped(`${test.file}:${String(test.line)}`)}</p>
${evaluated.runs.map((run, number) => runDetails(run, number + 1, folder)).join('\n')}`;
}

function runDetails(run: EvaluatedRun, number: number, folder: string): string {
  const { verdict, why, end, lines, tools, answerMs, gapMs, recording } = run;
  const facts: readonly (readonly [string, string])[] = [
    ...why.map((text) => ['why', text] as const),
    ...lines.map(({ by, text }) => [by, text] as const),
    ...tools.map(({ tool, input }) => ['tool', `${tool} ${JSON.stringify(input)}`] as const),
    ['answers', `${answerMs.map(String).join(', ') || 'none'} ms${gapMs === undefined ? '' : `, longest gap ${String(gapMs)} ms`}`],
  ];
  const terms = facts.map(([name, text]) => `<dt>${escaped(name)}</dt><dd>${escaped(text)}</dd>`).join('');
  const sound = recording === undefined ? '' : escaped(path.relative(folder, recording).split(path.sep).map(encodeURIComponent).join('/'));
  const player = sound === '' ? '' : `<audio controls preload="none" src="${sound}"></audio><a href="${sound}">recording</a>`;
  return `<details${verdict === 'passed' ? '' : ' open'}><summary>Run ${String(number)}: <span class="${verdict}">${verdict}</span>, ${end.replace('_', ' ')}</summary><dl>${terms}</dl>${player}</details>`;
}
