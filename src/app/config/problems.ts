// The problems of a configuration, and the error that lists them all. Values are masked before they come here.
import { AppError } from '../../base/errors.ts';

export interface Problem {
  /** The key, variable, flag or file that the operator wrote. */
  readonly subject: string;
  /** The value as printed; undefined when there is none. */
  readonly shown: string | undefined;
  /** The origin: `my.yaml:4`, a variable or a flag. */
  readonly from: string;
  /** The broken rule, as a sentence without a full stop. */
  readonly rule: string;
  readonly mend: string;
}

/** Most printed problems: a wrong file could otherwise fill the screen. */
const MAX_PRINTED = 100;

/** The error that lists all problems; its message has several lines. */
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
