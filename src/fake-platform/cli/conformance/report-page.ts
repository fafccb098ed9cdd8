// A conformance run as one HTML file: the score, and every check with the exchange as evidence, failures first. Needs no
// network and no script; foreign text is escaped. Decides nothing.
import { escaped } from '../../../base/html-text.ts';
import { exchangeText } from '../../conformance/exchange.ts';
import type { CheckResult, Conformance } from '../../conformance/run.ts';
import type { Verdict } from '../../conformance/verdict.ts';
import { groupOf } from './report-text.ts';

const WORDS: Readonly<Record<Verdict, string>> = {
  fail: 'failed',
  advice: 'advised',
  pass: 'passed',
  not_applicable: 'not applicable',
  undecided: 'undecided',
};
const ORDER: readonly Verdict[] = ['fail', 'advice', 'undecided', 'pass', 'not_applicable'];

const STYLE = `
:root { color-scheme: light dark; --line: #8886; --bad: #c62828; --open: #b26a00; --good: #2e7d32; --dim: #777; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --open: #ffcc80; --good: #81c784; --dim: #aaa; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.6rem; border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; font-weight: 600; }
.fail { color: var(--bad); } .pass { color: var(--good); } .not_applicable { color: var(--dim); } .undecided, .advice { color: var(--open); }
pre { overflow-x: auto; padding: 0.6rem; border: 1px solid var(--line); border-radius: 4px; font-size: 0.85rem; }
`;

/** The page. @param target - the server as the user named it. */
export function conformancePage(found: Conformance, target: string): string {
  const { passed, failed, notApplicable, undecided, score, finding, isInterrupted, brokenRules, advisedRules, results } = found;
  const points =
    score === undefined ? 'no check applied' : `${String(passed)} of ${String(passed + failed)} (${(score * 100).toFixed(0)} %)`;
  const facts: readonly (readonly [string, string])[] = [
    ['Score', points],
    ['Failed', String(failed)],
    ['Not applicable', String(notApplicable)],
    ...(undecided === 0 ? [] : ([['Undecided', String(undecided)]] as const)),
    ['Broken rules', brokenRules.length === 0 ? 'none' : brokenRules.join(', ')],
    ...(advisedRules.length === 0 ? [] : ([['Advice not followed', advisedRules.join(', ')]] as const)),
    ...(isInterrupted ? ([['Interrupted', 'the run did not come to its end']] as const) : []),
    ...(finding === undefined ? [] : ([[finding.code, finding.message]] as const)),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conformance of ${escaped(target)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Conformance of ${escaped(target)}</h1>
<table><caption>The run</caption><tbody>
${facts.map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`).join('\n')}
</tbody></table>
${ORDER.map((verdict) => section(verdict, results)).join('\n')}
</body>
</html>
`;
}

function section(verdict: Verdict, results: readonly CheckResult[]): string {
  const rows = results.filter((result) => result.verdict === verdict);
  if (rows.length === 0) return '';
  return `<h2 class="${verdict}">${String(rows.length)} ${WORDS[verdict]}</h2>
<table><thead><tr><th scope="col">Rule</th><th scope="col">Level</th><th scope="col">Check</th></tr></thead><tbody>
${rows.map((result) => row(result)).join('\n')}
</tbody></table>`;
}

function row(result: CheckResult): string {
  const { id, rules, level, title, reason, exchanges, verdict, durationMs } = result;
  const proof = exchanges.map((lines) => `<pre>${escaped(lines.map(exchangeText).join('\n'))}</pre>`).join('');
  const open = verdict === 'fail' || verdict === 'advice' || verdict === 'undecided' ? ' open' : '';
  const details = proof === '' ? '' : `<details${open}><summary>Exchange (${String(durationMs)} ms)</summary>${proof}</details>`;
  const why = reason === '' ? '' : `<br><span class="${verdict}">${escaped(reason)}</span>`;
  return `<tr><td>${escaped(rules.join(', '))}</td><td>${level}</td><td><strong>${escaped(id)}</strong> – ${escaped(groupOf(result))}<br>${escaped(title)}${why}${details}</td></tr>`;
}
