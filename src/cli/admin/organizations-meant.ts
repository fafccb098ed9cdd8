// What commands about data sources do in each organization they are about: one that fails does not keep the others from
// being looked at, and is told of beside the result.
import { AppError } from '../../base/errors.ts';
import { EXIT, reportFailure } from '../../base/terminal/failure.ts';
import type { AdminOutput } from './run.ts';

/**
 * Does `work` in one organization after the other, because requests are limited. What fails is printed to standard error and
 * sets the exit code; with one organization only it is thrown.
 */
export async function inEach<T>(
  organizations: readonly string[],
  { signal, output }: { readonly signal: AbortSignal; readonly output: AdminOutput },
  work: (organizationId: string) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (const organizationId of organizations) {
    try {
      found.push(...(await work(organizationId)));
    } catch (thrown) {
      if (!(thrown instanceof AppError) || organizations.length === 1 || signal.aborted) throw thrown;
      output.note(`organization ${organizationId}:\n`);
      reportFailure(thrown, (line) => {
        output.note(`${String(line)}\n`);
      });
      process.exitCode = EXIT.failed;
    }
  }
  return found;
}
