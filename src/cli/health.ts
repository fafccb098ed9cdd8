// `parley health`: asks a running server whether it accepts calls. For health checks of containers without any other tool.
import { Command } from 'commander';
import { loadSettings } from '../app/config/load-settings.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { operationsOrigin } from './operations-origin.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';

/** Longest wait for the answer, ms. */
const LIMIT_MS = 3000;

/** The command. Exit code 0 when the server is ready, 1 when not. */
export function healthCommand(): Command {
  const command = acceptSettings(new Command('health'))
    .description('ask the server on this machine whether it is ready; the settings say where its operations port is')
    .addHelpText('after', '\nExample:\n  $ parley health --ops.port=8087');
  return command.action(async () => {
    const { ops } = loadSettings({ argv: settingsArguments(command) }).settings;
    const url = `${operationsOrigin(ops)}/health/ready`;
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS), redirect: 'error' });
      console.log(`${answer.ok ? 'ready' : 'not ready'}  ${await answer.text()}`);
      process.exitCode = answer.ok ? EXIT.ok : EXIT.failed;
    } catch {
      console.log(`not ready  nothing answers at ${url}`);
      process.exitCode = EXIT.failed;
    }
  });
}
