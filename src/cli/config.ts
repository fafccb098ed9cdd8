// `parley config`: the effective configuration and the origin of every value. Loads the bots, because settings about bots can be validated
// only with them, but starts nothing. With --check-live, also asks the services that a start needs.
import { Command } from 'commander';
import pc from 'picocolors';
import { botsFolder } from '../app/bot-folders.ts';
import { describeSettings, originOf, type SettingRow } from '../app/config/describe-settings.ts';
import { checkSettings, type CheckedSettings } from '../app/config/load-settings.ts';
import { configInvalid, type Problem } from '../app/config/problems.ts';
import { botProblems, openCatalog } from '../app/open-catalog.ts';
import { AppError } from '../base/errors.ts';
import { loadBots } from '../bot/loader.ts';
import { checkLive } from './check-live.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';

const INVALID = 2;

const HELP = `
Examples:
  $ PARLEY_LOG_LEVEL=debug parley config --config my.yaml --grpc.port=8443
  $ parley config --config my.yaml --check-live

Exit code: 0 when all is well, 2 when the configuration or the usage is wrong; with --check-live also 1 for faults, 130 interrupted.`;

/**
 * The command. Exit code 2 when the configuration is invalid; every other error is thrown.
 * @param leave - ends the process soon, even when a loaded bot keeps a timer or a socket open.
 */
export function configCommand(leave: () => void): Command {
  const command = acceptSettings(new Command('config'))
    .description('print the effective configuration and where each value comes from; secrets are masked')
    .option('--json', 'print JSON: one object per setting')
    .option('--check-live', 'print instead what would go wrong at a start: asks stores and services, and changes nothing')
    .option('--ca <file>', 'with --check-live: PEM of authorities to trust beside the public ones')
    .addHelpText('after', HELP);
  return command.action(async (options: { json?: true; checkLive?: true; ca?: string }) => {
    const output = command.configureOutput();
    try {
      if (options.checkLive === true) {
        await checkLive(command, options.ca);
        return;
      }
      const checked = checkSettings({ argv: settingsArguments(command) });
      if (checked.loaded === undefined) throw configInvalid([...checked.problems, ...(await problemsOfBots(checked))]);
      const rows = describeSettings(checked.loaded);
      const colors = pc.createColors(output.getOutHasColors?.() ?? false);
      output.writeOut?.(options.json === true ? asJson(rows) : asTable(rows, colors));
      for (const variable of checked.loaded.ignored) {
        output.writeErr?.(`warning: ${variable} is set and of no use, because admin.enabled is false\n`);
      }
      const { bots } = checked.loaded.settings;
      openCatalog(await loadBots(botsFolder(bots)), bots, originOf(checked));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'config_invalid') throw error;
      output.writeErr?.(`${error.message}\n`);
      process.exitCode = INVALID;
    } finally {
      leave();
    }
  });
}

/** Problems of settings about bots, so that one run shows these, too. */
async function problemsOfBots(checked: CheckedSettings): Promise<readonly Problem[]> {
  if (checked.bots === undefined) return [];
  try {
    return botProblems(await loadBots(botsFolder(checked.bots)), checked.bots, originOf(checked));
  } catch (thrown) {
    // A module that cannot be loaded is no problem of the settings. It is reported when the settings are valid.
    if (thrown instanceof AppError && thrown.code === 'bot_invalid') return [];
    throw thrown;
  }
}

function asJson(rows: readonly SettingRow[]): string {
  const members = rows.map(({ key, value, origin }) => ({ key, value, origin }));
  return `${JSON.stringify(members, null, 2)}\n`;
}

/** Three aligned columns; values other than the default are highlighted. */
function asTable(rows: readonly SettingRow[], colors: ReturnType<typeof pc.createColors>): string {
  const keyWidth = Math.max(...rows.map((row) => row.key.length));
  // A long value would push every origin off the screen, so its origin goes below it.
  const valueWidth = Math.min(40, Math.max(...rows.map((row) => row.text.length)));
  return rows
    .map((row) => {
      const value = row.text.padEnd(valueWidth);
      return `${row.key.padEnd(keyWidth)}  ${row.isDefault ? value : colors.bold(value)}  ${colors.dim(row.origin)}\n`;
    })
    .join('');
}
