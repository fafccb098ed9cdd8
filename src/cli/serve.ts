// `parley serve`: runs the server until it is told to stop.
import { Command } from 'commander';
import { createApp, type App, type ReadySummary } from '../app/app.ts';
import { originOf } from '../app/config/describe-settings.ts';
import { loadSettings } from '../app/config/load-settings.ts';
import { createLogger, type LogFields, type Logger } from '../base/log.ts';
import { EXIT } from './failure.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';
import { catchStrayFailures } from './stray-failures.ts';

/** The command. */
export function serveCommand(): Command {
  const command = acceptSettings(new Command('serve'))
    .description('run the server until SIGTERM or SIGINT; open turns are finished first')
    .option('--json', 'print the ready line as JSON')
    .addHelpText(
      'after',
      '\nExample: a server for a laptop, without TLS and token check\n  $ parley serve --grpc.host=127.0.0.1 --tls.mode=off --auth.enabled=false',
    );
  return command.action(async (options: { json?: true }) => {
    const loaded = loadSettings({ argv: settingsArguments(command) });
    const { settings } = loaded;
    const log = createLogger({ level: settings.log.level });
    const app = await createApp({ settings, originOf: originOf(loaded), log });
    stopOnSignal(app, log);
    console.log(options.json === true ? JSON.stringify({ event: 'ready', ...app.ready }) : readyLine(app.ready));
  });
}

// The handlers stay: a library that writes files listens to signals, too, and sends them on when it is the last one.
function stopOnSignal(app: App, log: Logger): void {
  let isStopping = false;
  let exitCode: number = EXIT.ok;
  const stop = (why: LogFields): void => {
    if (isStopping) return;
    isStopping = true;
    log.info({ ...why, openTurns: app.openTurns() }, 'stopping: new calls are refused, open turns are finished');
    void app.close().then(() => {
      log.info({}, 'stopped');
      process.off('SIGTERM', onSignal);
      process.off('SIGINT', onSignal);
      process.exitCode = exitCode;
    });
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // The second signal is from somebody who does not want to wait.
    if (isStopping) process.exit(EXIT.interrupted);
    stop({ signal });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // Who watches the process starts it anew; calls that are running are finished before.
  catchStrayFailures(log, () => {
    exitCode = EXIT.failed;
    stop({});
  });
}

/** The one line that says the server is ready. */
export function readyLine({ address, security, bots, dataSources, hasTokenCheck, opsPort }: ReadySummary): string {
  const check = hasTokenCheck ? 'token check ON' : 'token check OFF';
  return `ready  ${address}  ${security}  bots ${bots.join(', ')}  data sources ${String(dataSources)}  ${check}  operations port ${String(opsPort)}`;
}
