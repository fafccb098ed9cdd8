// What is wrong with a configuration, and the one error that lists all of it at once. Values arrive masked.
import { AppError } from '../../base/errors.ts';

export interface Problem {
  /** Key, variable, flag or file, as the operator wrote it. */
  readonly subject: string;
  /** The value as it may be printed; undefined when there is none to show. */
  readonly shown: string | undefined;
  /** Where it stands: `my.yaml:4`, a variable or a flag. */
  readonly from: string;
  /** The rule it breaks, as a sentence without a full stop. */
  readonly rule: string;
  readonly mend: string;
}

/** Most problems that are printed; a file of another program could otherwise fill the screen. */
const MAX_PRINTED = 100;

/** The error that says everything; its message has several lines. */
export function configInvalid(problems: readonly Problem[]): AppError {
  const count = problems.length === 1 ? '1 setting is wrong' : `${String(problems.length)} settings are wrong`;
  const printed = problems.slice(0, MAX_PRINTED).map(render);
  if (problems.length > MAX_PRINTED) printed.push(`  … and ${String(problems.length - MAX_PRINTED)} more`);
  return new AppError('config_invalid', [`${count}:`, ...printed].join('\n'), { details: { problems: problems.length } });
}

function render(problem: Problem): string {
  const value = problem.shown === undefined ? '' : ` = ${problem.shown}`;
  return [`  ${problem.subject}${value}   (${problem.from})`, `    rule: ${problem.rule}`, `    mend: ${problem.mend}`].join('\n');
}
