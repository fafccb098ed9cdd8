// The results of a conformance run, as text for people and as JSON for programs. Decides nothing.
import type pc from 'picocolors';
import type { ListedCheck } from '../../conformance/catalog.ts';
import type { Verdict } from '../../conformance/verdict.ts';
import { exchangeText } from '../../conformance/exchange.ts';
import type { CheckResult, Conformance } from '../../conformance/run.ts';
import { alignedRows } from '../../../base/terminal/table.ts';

type Colors = ReturnType<typeof pc.createColors>;

/** Most lines of an exchange below a failure on a terminal; reports in files have all of them. */
const SHOWN_LINES = 14;
const MARKS: Readonly<Record<Verdict, string>> = { pass: 'pass', fail: 'FAIL', advice: 'adv.', not_applicable: 'n/a', undecided: '????' };

/** The checks as a list, without running any: rule, level, id and title. */
export function checkList(checks: readonly ListedCheck[]): string {
  return alignedRows(checks.map(({ id, rules, title, level }) => [rules[0], level, id, title]));
}

/** A line for each check, by group of rules; failures with their exchange below, and the score at the end. */
export function conformanceText(found: Conformance, colors: Colors): string {
  const { results, finding } = found;
  const named = finding === undefined ? [] : [`${colors.red(finding.code)}: ${finding.message}`];
  if (results.length === 0) return [...named, found.isInterrupted ? verdictLine(found, colors) : 'no check was run'].join('\n');
  const lines = alignedRows(
    results.map(({ verdict, rules, level, id, reason }) => [MARKS[verdict], rules[0] ?? '', level, id, reason]),
  ).split('\n');
  const blocks = results.flatMap((result, index) => [
    ...(groupOf(result) === (index === 0 ? '' : groupOf(results[index - 1])) ? [] : ['', colors.bold(groupOf(result))]),
    painted(lines[index] ?? '', result, colors),
  ]);
  const failures = results
    .filter(({ verdict }) => verdict === 'fail' || verdict === 'advice' || verdict === 'undecided')
    .flatMap((result) => ['', ...failureLines(result, colors)]);
  return [...blocks.slice(1), ...failures, '', ...named, verdictLine(found, colors)].join('\n');
}

/** The last line: the score. */
function verdictLine(
  { ok, passed, failed, notApplicable, undecided, score, brokenRules, advisedRules, isInterrupted }: Conformance,
  colors: Colors,
): string {
  const points = score === undefined ? '' : `score ${String(passed)}/${String(passed + failed)} (${(score * 100).toFixed(0)} %), `;
  const word = verdictWord({ ok, isInterrupted, failed, passed, advisedRules }, colors);
  const open = undecided === 0 ? '' : `, ${String(undecided)} undecided`;
  const broken = brokenRules.length === 0 ? '' : `; broken: ${brokenRules.join(', ')}`;
  const advised = advisedRules.length === 0 ? '' : `; advice: ${advisedRules.join(', ')}`;
  return `${word}  ${points}${String(failed)} failed, ${String(notApplicable)} not applicable${open}${broken}${advised}`;
}

function verdictWord(
  { ok, isInterrupted, failed, passed, advisedRules }: Pick<Conformance, 'ok' | 'isInterrupted' | 'failed' | 'passed' | 'advisedRules'>,
  colors: Colors,
): string {
  if (isInterrupted) return colors.yellow('interrupted');
  if (!ok) return colors.red(failed > 0 ? 'does not conform' : 'not known to conform');
  return passed > 0 || advisedRules.length > 0 ? colors.green('conforms') : colors.yellow('nothing applied');
}

/** The subject of each group of rules; rules of calls are grouped by the first digit of their number. */
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
  W: [
    'Sockets: the upgrade',
    'Sockets: envelopes',
    'Sockets: the session',
    'Sockets: sound',
    'Sockets: pings, errors and closes',
    'Sockets: the list of agents',
  ],
};

/** The heading of the group to which a result's first rule belongs; empty when the group is unknown. */
export function groupOf(result: Pick<CheckResult, 'rules'> | undefined): string {
  const [kind = '', number = ''] = (result?.rules[0] ?? '').split('-');
  return GROUPS[kind]?.[Number(number[0])] ?? '';
}

// Paints lines whose columns are aligned already, because colour codes would count as characters.
function painted(line: string, { verdict }: CheckResult, colors: Colors): string {
  if (verdict === 'not_applicable') return colors.dim(line);
  const mark = MARKS[verdict];
  const paint = { pass: colors.green, fail: colors.red, advice: colors.yellow, undecided: colors.yellow }[verdict];
  return paint(mark) + line.slice(mark.length);
}

function failureLines({ id, rules, level, title, reason, exchanges, verdict }: CheckResult, colors: Colors): readonly string[] {
  const all = exchanges[0] ?? [];
  // A reason that names an RPC or a socket: show the lines of this one only.
  const named = /\b(?:RPC|WS)\d+\b/u.exec(reason)?.[0];
  const ofNamed = all.filter(({ rpc }) => rpc === named);
  const lines = (ofNamed.length > 0 ? ofNamed : all).slice(-SHOWN_LINES);
  const hidden = all.length - lines.length;
  return [
    `${(verdict === 'fail' ? colors.red : colors.yellow)(MARKS[verdict])} ${rules[0] ?? ''} ${level} ${id}`,
    `  wanted: ${title}`,
    `  found:  ${reason}`,
    ...lines.map((line) => colors.dim(`  ${exchangeText(line)}`)),
    ...(hidden > 0 ? [colors.dim(`  (${String(hidden)} other lines; --html or --json has all)`)] : []),
  ];
}

/** The run as JSON data; exchanges as lines of text. */
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
