// `parley doctor`: says why no calls come in. Examines the configuration, the platform, the registered address and the server at that
// address, and changes nothing. src/admin/doctor has the checks.
import { Command, InvalidArgumentError } from 'commander';
import type { DoctorContext } from '../admin/doctor/context.ts';
import { CHECK_IDS, type Check, type CheckId } from '../admin/doctor/check.ts';
import { DOCTOR_CHECKS } from '../admin/doctor/checks.ts';
import { runDoctor, type CheckResult } from '../admin/doctor/run-doctor.ts';
import { openExamination } from '../app/examination.ts';
import { createLogger } from '../base/log.ts';
import { INTERRUPTED, runAsConfigured, type AdminWork } from './admin/run.ts';
import { authoritiesIn } from './authorities.ts';
import { doctorText, reportOf } from './doctor-text.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { outsideCommand } from './outside-command.ts';
import { isMissingBench } from './bench-commands.ts';
import type { ServerQuestionsOptions } from './registered-server.ts';
import { acceptSettings } from './settings-arguments.ts';

/** Time limit of one check, ms: enough to repeat a request to the platform. */
const CHECK_LIMIT_MS = 20_000;
/** Time limit of all checks together, ms. */
const LIMIT_MS = 600_000;
/** Clears the current line of the terminal. */
const CLEAR_LINE = '\r\u001b[K';

interface Flags {
  readonly ca?: string;
  readonly org?: string;
  readonly only?: readonly CheckId[];
}

const HELP = `
Examples:
  $ parley doctor --config my.yaml
  $ parley doctor --config my.yaml --org $ORG --only url --json

Checks: ${CHECK_IDS.join(', ')}.
Exit code: 0 no fault, 1 faults, 2 the configuration or the usage is wrong, 130 interrupted.`;

/**
 * The command.
 * @param leave - ends the process soon, even when a loaded bot keeps a timer or a socket open.
 * @param isWatched - whether to show progress: standard error is a terminal.
 */
export function doctorCommand(leave: () => void, isWatched: boolean = process.stderr.isTTY): Command {
  const command = acceptSettings(new Command('doctor'))
    .description('say why no calls come in: examines data sources, tokens, the registered address and the server behind it')
    .option('--org <id>', 'examine this organization only, in any spelling')
    .option('--only <check>', 'make this check and those that it needs; may be repeated', checkIds)
    .option('--ca <file>', 'PEM of authorities to trust beside the public ones, for a certificate that the platform would not take')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP);
  return command.action(async (flags: Flags) => {
    try {
      const authorities = await authoritiesIn(flags.ca, command);
      await runAsConfigured(command, (given) => examine(given, flags, authorities, isWatched), LIMIT_MS);
    } finally {
      leave();
    }
  });
}

async function examine(given: AdminWork, { org, only }: Flags, authorities: readonly string[], isWatched: boolean): Promise<void> {
  const { output, clock, profile, signal, settings } = given;
  // The findings already report what the log would warn of.
  const isAskedFor = settings.log.level === 'debug' || settings.log.level === 'trace';
  const log = isAskedFor ? given.log : createLogger({ level: 'error', destination: { write: output.note } });
  const server = await serverQuestions({ profile, clock, authorities, socketPathPrefix: settings.websocket.pathPrefix });
  const examination = await openExamination({ ...given, ...{ log, organization: org, authorities, server } });
  const progress = isWatched && !output.isJson ? progressOn(output.note) : undefined;
  let checks: readonly CheckResult[];
  try {
    const options = { signal, clock, perCheckMs: CHECK_LIMIT_MS, onResult: progress?.onResult };
    checks = await runDoctor(withGrounds(only), examination.context, options);
  } finally {
    progress?.end();
    await examination.close();
  }
  // The findings of an interrupted examination are useful, but its result is never ok.
  const report = reportOf(checks, !signal.aborted, outsideCommand(given));
  output.show(report, doctorText(report, output.colors));
  process.exitCode = signal.reason === INTERRUPTED ? EXIT.interrupted : report.ok ? EXIT.ok : EXIT.failed;
}

/** The named checks and those that they need; without names, all checks. */
function withGrounds(only: readonly CheckId[] = CHECK_IDS): readonly Check[] {
  const chosen = new Set(only);
  // DOCTOR_CHECKS lists a needed check before the checks that need it.
  for (const { id, needs } of [...DOCTOR_CHECKS].reverse()) if (chosen.has(id)) for (const need of needs) chosen.add(need);
  return DOCTOR_CHECKS.filter(({ id }) => chosen.has(id));
}

function progressOn(note: (text: string) => void) {
  let done = 0;
  return {
    onResult: ({ id }: CheckResult, checks: number): void => {
      done += 1;
      note(`${CLEAR_LINE}${String(done)} of ${String(checks)} checks made, the last one: ${id}`);
    },
    end: (): void => {
      note(CLEAR_LINE);
    },
  };
}

function checkIds(text: string, before: readonly CheckId[] = []): readonly CheckId[] {
  const id = CHECK_IDS.find((known) => known === text);
  if (id === undefined) throw new InvalidArgumentError(`The checks are: ${CHECK_IDS.join(', ')}.`);
  return [...before, id];
}

/** The platform's requests to the server. Empty in an image without the fake platform: the checks that need them are then skipped. */
async function serverQuestions(options: ServerQuestionsOptions): Promise<Pick<DoctorContext, 'health' | 'listAgents'>> {
  try {
    return (await import('./registered-server.ts')).serverQuestions(options);
  } catch (thrown) {
    if (isMissingBench(thrown)) return {};
    throw thrown;
  }
}
