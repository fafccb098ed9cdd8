// What a conformance run found, for people and for programs. Decides nothing.
import type pc from 'picocolors';
import type { Check } from '../../fake-platform/conformance/check.ts';
import type { Verdict } from '../../fake-platform/conformance/verdict.ts';
import { exchangeText } from '../../fake-platform/conformance/exchange.ts';
import type { CheckResult, Conformance } from '../../fake-platform/conformance/run.ts';
import { alignedRows } from '../table.ts';

type Colors = ReturnType<typeof pc.createColors>;

/** Most lines of an exchange shown below a failure on a terminal; the reports have all of them. */
const SHOWN_LINES = 14;
const MARKS: Readonly<Record<Verdict, string>> = { pass: 'pass', fail: 'FAIL', not_applicable: 'n/a' };

/** The checks without running any: id, rules and what each demands. */
export function checkList(checks: readonly Check[]): string {
  return alignedRows(checks.map(({ id, rules, title }) => [rules[0], id, title]));
}

/** A line for each check by group of rules, failures with their exchange below, and the score at the end. */
export function conformanceText(found: Conformance, colors: Colors): string {
  const { results, finding } = found;
  if (finding !== undefined) return `${colors.red(finding.code)}: ${finding.message}\nno check was run`;
  const lines = alignedRows(results.map(({ verdict, rules, id, reason }) => [MARKS[verdict], rules[0] ?? '', id, reason])).split('\n');
  const blocks = results.flatMap((result, index) => [
    ...(groupOf(result) === (index === 0 ? '' : groupOf(results[index - 1])) ? [] : ['', colors.bold(groupOf(result))]),
    painted(lines[index] ?? '', result, colors),
  ]);
  const failures = results.filter(({ verdict }) => verdict === 'fail').flatMap((result) => ['', ...failureLines(result, colors)]);
  return [...blocks.slice(1), ...failures, '', verdictLine(found, colors)].join('\n');
}

/** The end of it in one line. */
function verdictLine({ ok, passed, failed, notApplicable, score, brokenRules, isInterrupted }: Conformance, colors: Colors): string {
  const points = score === undefined ? '' : `score ${String(passed)}/${String(passed + failed)} (${(score * 100).toFixed(0)} %), `;
  const word = isInterrupted ? colors.yellow('interrupted') : ok ? colors.green('conforms') : colors.red('does not conform');
  const broken = brokenRules.length === 0 ? '' : `; broken: ${brokenRules.join(', ')}`;
  return `${word}  ${points}${String(failed)} failed, ${String(notApplicable)} not applicable${broken}`;
}

/** What the rules of a group are about; those of the calls by the first digit of their number. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  G: [
    'Transport and discovery',
    'One RPC for each interaction',
    'Session start',
    'Caller audio',
    'Response modes',
    'Barge-in and overlapping RPCs',
    'Keys',
    'Silence, events, ending and transfer',
    'Input settings',
    'Robustness',
  ],
  J: Array.from({ length: 10 }, () => 'Tokens'),
};

/** The heading a result stands below. */
export function groupOf(result: Pick<CheckResult, 'rules'> | undefined): string {
  const [kind = '', number = ''] = (result?.rules[0] ?? '').split('-');
  return GROUPS[kind]?.[Number(number[0])] ?? '';
}

// After the columns were aligned, because the codes of colours have a length, too.
function painted(line: string, { verdict }: CheckResult, colors: Colors): string {
  if (verdict === 'not_applicable') return colors.dim(line);
  const mark = MARKS[verdict];
  return (verdict === 'pass' ? colors.green : colors.red)(mark) + line.slice(mark.length);
}

function failureLines({ id, rules, title, reason, exchanges }: CheckResult, colors: Colors): readonly string[] {
  const lines = exchanges[0] ?? [];
  const hidden = lines.length - SHOWN_LINES;
  return [
    `${colors.red('FAIL')} ${rules[0] ?? ''} ${id}`,
    `  wanted: ${title}`,
    `  found:  ${reason}`,
    ...lines.slice(-SHOWN_LINES).map((line) => colors.dim(`  ${exchangeText(line)}`)),
    ...(hidden > 0 ? [colors.dim(`  (${String(hidden)} lines before; --html or --json has all)`)] : []),
  ];
}

/** The run as plain data; exchanges as lines of text. */
export function conformanceData(found: Conformance, target: string): object {
  const { results, finding, ...rest } = found;
  return {
    target,
    ...rest,
    ...(finding === undefined ? {} : { finding }),
    results: results.map(({ exchanges, ...result }) => ({
      ...result,
      group: groupOf(result),
      exchanges: exchanges.map((lines) => lines.map(exchangeText)),
    })),
  };
}
