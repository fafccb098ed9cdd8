// What the doctor found, for people and for programs. Decides nothing.
import type pc from 'picocolors';
import type { Finding } from '../admin/doctor/finding.ts';
import type { CheckResult } from '../admin/doctor/run-doctor.ts';
import type { OutsideCommand } from './outside-command.ts';
import { alignedRows } from '../base/terminal/table.ts';

type Colors = ReturnType<typeof pc.createColors>;

/** Results with what they come to. Names are public: scripts read them. */
export interface DoctorReport {
  /** No fault was found, and nothing was cut short. */
  readonly ok: boolean;
  readonly faults: number;
  readonly warnings: number;
  readonly checks: readonly CheckResult[];
  /** Shows what the platform sees, run outside; absent where the configuration has no address. */
  readonly outside?: OutsideCommand;
}

/** @param isWhole - false when the examination was cut short. */
export function reportOf(checks: readonly CheckResult[], isWhole: boolean, outside?: OutsideCommand): DoctorReport {
  const found = checks.flatMap(({ findings }) => findings);
  const faults = found.filter(({ severity }) => severity === 'fault').length;
  return { ok: isWhole && faults === 0, faults, warnings: found.length - faults, checks, ...(outside !== undefined && { outside }) };
}

/** One line for each check, below it its findings, and the counts at the end. */
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
  // What a check says when nothing is found would be the opposite of the truth when something is.
  return [state, id, subject, { ok: title, skipped: reason ?? '', found: '' }[state]];
}

/** After the columns were aligned, because the codes of colours have a length, too. */
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
