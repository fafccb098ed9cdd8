// What every `parley admin` command shares: settings, the opened administration interface, Ctrl-C, a time limit, and output.
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

/** Longest time of a command that waits for no person, ms. */
const LIMIT_MS = 120_000;

/** The abort reason after Ctrl-C. */
export const INTERRUPTED: AbortReason = 'shutdown';

export interface AdminWork {
  readonly settings: Settings;
  /** Describes where a setting comes from, for messages. */
  readonly originOf: OriginText;
  readonly admin: AdminSettings;
  readonly profile: AdminAccess['profile'];
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts on Ctrl-C and at the time limit. */
  readonly signal: AbortSignal;
  readonly output: AdminOutput;
}

/** {@link AdminWork} with the opened administration interface. */
export type AccessWork = AdminWork & { readonly access: AdminAccess };

/** `limitMs` is the time limit, ms; the rest as in {@link AdminAccessParts}. */
export type AccessOptions = { readonly limitMs?: number } & Pick<AdminAccessParts, 'ifHeld' | 'asksForFirst'>;

export interface AdminOutput {
  readonly isJson: boolean;
  readonly colors: ReturnType<typeof pc.createColors>;
  /** Prints a result: `data` as JSON with `--json`, otherwise the text. */
  show(data: unknown, text: string): void;
  /** Prints a message to standard error; the text includes its line ending. */
  readonly note: (text: string) => void;
  /** Prints a table with headings. Prints `data` instead with `--json`, and `nothing` instead of a table without rows. */
  table(data: unknown, headings: readonly string[], rows: readonly (readonly string[])[], nothing: string): void;
}

/** Adds the options of every `parley admin` command. */
export function adminCommand(command: Command, example: string): Command {
  return acceptSettings(command).option('--json', 'print JSON').addHelpText('after', `\nExample:\n  $ parley admin ${example}`);
}

/**
 * Runs `work` with the settings of the command line. An error after Ctrl-C only sets the exit code.
 *
 * @param limitMs - the time limit, ms.
 * @param forced - flags with precedence over the command line.
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

/** As {@link runAsConfigured}, with the administration enabled and its interface open. */
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
