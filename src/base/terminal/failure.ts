// How a command ends when it cannot go on: one readable message, what to do about it, and an exit code. Never a stack
// trace for a failure that Parley expects.
import pc from 'picocolors';
import { AppError, ERROR_MENDS } from '../errors.ts';

/** Exit codes of all commands. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Prints a failure, by default to standard error. @returns the exit code for it. */
export function reportFailure(
  thrown: unknown,
  print: (line: unknown) => void = (line) => {
    console.error(line);
  },
): number {
  if (!(thrown instanceof AppError)) {
    print(thrown instanceof Error ? thrown.stack : thrown);
    return EXIT.failed;
  }
  const colors = pc.createColors(process.stderr.isTTY && process.stderr.hasColors());
  print(`${colors.red(`error ${thrown.code}`)}  ${thrown.message}`);
  if (thrown.code === 'config_invalid') return EXIT.usage;
  print(`${colors.dim('what to do')}  ${ERROR_MENDS[thrown.code]}`);
  return EXIT.failed;
}
