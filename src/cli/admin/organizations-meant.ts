// Runs commands about data sources in the organizations that they concern.
import { openDataSources, organizationsMeant } from '../../app/admin-data-sources.ts';
import { AppError } from '../../base/errors.ts';
import { EXIT, reportFailure } from '../../base/terminal/failure.ts';
import type { AccessWork } from './run.ts';

/** The data sources of one organization, in any spelling of its id. @throws AppError `config_invalid`. */
export async function dataSourcesOf(org: string, given: AccessWork) {
  const [organizationId = ''] = await organizationsMeant(org, given);
  return openDataSources(organizationId, given);
}

/**
 * Runs `work` in one organization after another, because requests are limited. Prints errors to standard error and sets the exit
 * code, and continues; with a single organization it throws.
 */
export async function inEach<T>(
  organizations: readonly string[],
  { signal, output }: Pick<AccessWork, 'signal' | 'output'>,
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
