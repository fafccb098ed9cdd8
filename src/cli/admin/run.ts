// What every `parley admin` command has in common: settings, the open administration interface, Ctrl-C, a time limit, and
// what prints. What a command does with them is its own.
import type { Command } from 'commander';
import pc from 'picocolors';
import { openAdminAccess, platformOf, type AdminAccess, type AdminAccessParts } from '../../app/admin-access.ts';
import type { AdminSettings } from '../../app/admin-settings.ts';
import { originOf } from '../../app/config/describe-settings.ts';
import { loadSettings } from '../../app/config/load-settings.ts';
import type { Settings } from '../../app/config/settings.ts';
import type { OriginText } from '../../app/open-catalog.ts';
import { abortAfter, type AbortReason } from '../../base/abort.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { createLogger, type Logger } from '../../base/log.ts';
import { processSurroundings } from '../../base/terminal/surroundings.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { acceptSettings, settingsArguments } from '../settings-arguments.ts';
import { alignedRows } from '../../base/terminal/table.ts';

/** Longest time of a command that waits for nobody, ms. */
const LIMIT_MS = 120_000;

/** What a Ctrl-C aborts the signal with. */
export const INTERRUPTED: AbortReason = 'shutdown';

export interface AdminWork {
  readonly settings: Settings;
  /** Where a setting stands, for messages. */
  readonly originOf: OriginText;
  readonly admin: AdminSettings;
  readonly profile: AdminAccess['profile'];
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts on Ctrl-C and when the time is over. */
  readonly signal: AbortSignal;
  readonly output: AdminOutput;
}

/** The same with the administration switched on and its interface open. */
export type AccessWork = AdminWork & { readonly access: AdminAccess };

/** `limitMs` is the longest time, ms; the rest as {@link AdminAccessParts} has it. */
export type AccessOptions = { readonly limitMs?: number } & Pick<AdminAccessParts, 'ifHeld' | 'asksForFirst'>;

export interface AdminOutput {
  readonly isJson: boolean;
  readonly colors: ReturnType<typeof pc.createColors>;
  /** A result: `data` as JSON with `--json`, otherwise the text. */
  show(data: unknown, text: string): void;
  /** Something beside the result, on standard error; the text ends its line itself. */
  readonly note: (text: string) => void;
  /** Rows of a table under their headings; JSON prints `data`. `nothing` stands in for an empty table. */
  table(data: unknown, headings: readonly string[], rows: readonly (readonly string[])[], nothing: string): void;
}

/** Lets a command take what all of them take. */
export function adminCommand(command: Command, example: string): Command {
  return acceptSettings(command).option('--json', 'print JSON').addHelpText('after', `\nExample:\n  $ parley admin ${example}`);
}

/**
 * Runs `work` with the settings of the command line. What it throws after a Ctrl-C is no failure: the exit code says it.
 *
 * @param limitMs - longest time, ms.
 * @param forced - flags that win over those of the command line.
 * @throws AppError `config_invalid`, and what `work` throws.
 */
export async function runAsConfigured(
  command: Command,
  work: (given: AdminWork) => Promise<void>,
  limitMs = LIMIT_MS,
  forced: readonly string[] = [],
): Promise<void> {
  const loaded = loadSettings({ argv: [...settingsArguments(command), ...forced] });
  const { settings } = loaded;
  const output = outputOf(command);
  const whole = abortAfter(limitMs, systemClock);
  const forget = processSurroundings().onInterrupt(() => {
    whole.abort(INTERRUPTED);
  });
  try {
    await work({
      settings,
      originOf: originOf(loaded),
      admin: settings.admin,
      profile: platformOf(settings),
      clock: systemClock,
      log: createLogger({ level: settings.log.level === 'info' ? 'warn' : settings.log.level, destination: { write: output.note } }),
      signal: whole.signal,
      output,
    });
  } catch (thrown) {
    if (whole.signal.reason !== INTERRUPTED) throw thrown;
    output.note('interrupted\n');
    process.exitCode = EXIT.interrupted;
  } finally {
    forget();
    whole.dispose();
  }
}

/** As {@link runAsConfigured}, with the administration switched on and its interface open. */
export async function runWithAccess(
  command: Command,
  purpose: AdminAccessParts['purpose'],
  work: (given: AccessWork) => Promise<void>,
  { limitMs, ...how }: AccessOptions = {},
): Promise<void> {
  const withAccess = async (given: AdminWork): Promise<void> => {
    const access = await openAdminAccess(given.admin, { ...given, sharing: given.settings.store, purpose, ...how });
    try {
      await work({ ...given, access });
    } finally {
      await access.close();
    }
  };
  await runAsConfigured(command, withAccess, limitMs, ['--admin.enabled=true']);
}

function outputOf(command: Command): AdminOutput {
  const output = command.configureOutput();
  const isJson = command.getOptionValue('json') === true;
  const write = (text: string): void => {
    output.writeOut?.(text);
  };
  const show = (data: unknown, text: string): void => {
    write(isJson ? `${JSON.stringify(data, null, 2)}\n` : `${text.trimEnd()}\n`);
  };
  return {
    ...{ isJson, show },
    note: (text) => {
      output.writeErr?.(text);
    },
    colors: pc.createColors(output.getOutHasColors?.() ?? false),
    table: (data, headings, rows, nothing) => {
      show(data, rows.length === 0 ? nothing : alignedRows([headings, ...rows]));
    },
  };
}
