// `parley config --check-live`: finds what would go wrong at a start, without starting. src/app/preflight has the checks.
import type { Command } from 'commander';
import { runDoctor } from '../admin/doctor/run-doctor.ts';
import { preflightOf } from '../app/preflight/preflight.ts';
import { createLogger } from '../base/log.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { INTERRUPTED, runAsConfigured } from './admin/run.ts';
import { authoritiesIn } from './authorities.ts';
import { doctorText, reportOf } from './doctor-text.ts';

/** Time limit of one check, ms. A check waits for at most one other, so two must fit into LIMIT_MS. */
const CHECK_LIMIT_MS = 4500;
/** Time limit of all checks together, ms. */
const LIMIT_MS = 10_000;
/** All checks run at once, because each asks a different service. */
const MAX_PARALLEL = 100;

/** Runs all checks and prints the report. Sets the exit code. @param ca - a file of certificate authorities to trust. */
export async function checkLive(command: Command, ca: string | undefined): Promise<void> {
  const authorities = await authoritiesIn(ca, command);
  await runAsConfigured(
    command,
    async ({ settings, originOf, profile, clock, signal, output }) => {
      // The findings already report what the log would warn of.
      const log = createLogger({ level: 'error', destination: { write: output.note } });
      const { checks, context } = preflightOf({ settings, originOf, profile, clock, log, authorities });
      const results = await runDoctor(checks, context, { signal, clock, perCheckMs: CHECK_LIMIT_MS, maxParallel: MAX_PARALLEL });
      const report = reportOf(results, !signal.aborted);
      output.show(report, doctorText(report, output.colors));
      process.exitCode = signal.reason === INTERRUPTED ? EXIT.interrupted : report.ok ? EXIT.ok : EXIT.failed;
    },
    LIMIT_MS,
  );
}
