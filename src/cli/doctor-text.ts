// The doctor's results as text and as JSON. Decides nothing.
import type pc from 'picocolors';
import type { Finding } from '../admin/doctor/finding.ts';
import type { CheckResult } from '../admin/doctor/run-doctor.ts';
import type { OutsideCommand } from './outside-command.ts';
import { alignedRows } from '../base/terminal/table.ts';

type Colors = ReturnType<typeof pc.createColors>;

/** Results with their summary. The names of the members are public: scripts read them. */
export interface DoctorReport {
  /** True when the examination was complete and found no faults. */
  readonly ok: boolean;
  readonly faults: number;
  readonly warnings: number;
  readonly checks: readonly CheckResult[];
  /** Set when an address is configured: a command to run outside, which shows what the platform sees. */
  readonly outside?: OutsideCommand;
}

/** @param isWhole - false when the examination was interrupted. */
export function reportOf(checks: readonly CheckResult[], isWhole: boolean, outside?: OutsideCommand): DoctorReport {
  const found = checks.flatMap(({ findings }) => findings);
  const faults = found.filter(({ severity }) => severity === 'fault').length;
  return { ok: isWhole && faults === 0, faults, warnings: found.length - faults, checks, ...(outside !== undefined && { outside }) };
}

/** One line for each check, its findings below it, and the counts at the end. */
export function doctorText({ checks, faults, warnings, outside }: DoctorReport, colors: Colors): string {
  const lines = alignedRows(checks.map(rowOf)).trimEnd().split('\n');
  const blocks = checks.map((check, index) => [coloured(lines[index] ?? '', check, colors), ...check.findings.flatMap(findingLines)]);
  const count = (state: CheckResult['state']): string => String(checks.filter((check) => check.state === state).length);
  const summary = `${String(checks.length)} checks: ${count('ok')} ok, ${count('found')} found something, ${count('skipped')} skipped`;
  const fromOutside =
    outside === undefined ? '' : `\n\nWhat the platform sees, this shows when it is run outside: ${outside.shows}.\n  ${outside.command}`;
  return `${blocks.flat().join('\n')}\n\n${summary}; ${counted(faults, 'fault')}, ${counted(warnings, 'warning')}${fromOutside}`;
}

function rowOf({ state, id, subject, title, reason }: CheckResult): readonly string[] {
  // `title` says that nothing is wrong, so a check with findings does not show it.
  return [state, id, subject, { ok: title, skipped: reason ?? '', found: '' }[state]];
}

/** Colours a line whose columns are aligned already, because colour codes would count as characters. */
function coloured(line: string, { state, findings }: CheckResult, colors: Colors): string {
  if (state === 'skipped') return colors.dim(line);
  const isWarning = findings.every(({ severity }) => severity === 'warning');
  const paint = state === 'ok' ? colors.green : isWarning ? colors.yellow : colors.red;
  return paint(state) + line.slice(state.length);
}

const INDENT = ' '.repeat(9);

function findingLines({ code, severity, what, where, mend }: Finding): readonly string[] {
  return [`${code} (${severity}): ${what}.`, `seen at: ${where}.`, `to mend: ${mend.replace(/\.$/u, '')}.`].map((line) => INDENT + line);
}

function counted(count: number, word: string): string {
  return `${String(count)} ${word}${count === 1 ? '' : 's'}`;
}
