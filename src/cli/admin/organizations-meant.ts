// Runs commands about data sources in the organizations that they concern.
import { openDataSources, organizationsMeant } from '../../app/admin-data-sources.ts';
import { AppError } from '../../base/errors.ts';
import { EXIT, reportFailure } from '../../base/terminal/failure.ts';
import type { AccessWork } from './run.ts';

/** Opens the data sources of one organization. @param org - its id in any spelling. @throws AppError `config_invalid`. */
export async function dataSourcesOf(org: string, given: AccessWork) {
  const [organizationId = ''] = await organizationsMeant(org, given);
  return openDataSources(organizationId, given);
}

/**
 * Runs `work` in one organization after another, because the platform limits requests. When one fails, prints the error, sets the exit code
 * and continues; with a single organization, throws the error.
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
