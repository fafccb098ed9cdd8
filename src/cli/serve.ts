// `parley serve`: runs the server until it is told to stop.
import { Command } from 'commander';
import { createApp, type App, type ReadySummary } from '../app/app.ts';
import { originOf } from '../app/config/describe-settings.ts';
import { loadSettings } from '../app/config/load-settings.ts';
import { linkAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import { createLogger, type LogFields, type Logger } from '../base/log.ts';
import { EXIT } from './failure.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';
import { catchStrayFailures } from './stray-failures.ts';

/**
 * The command.
 *
 * @param leave - ends the process soon although a bot that was loaded still keeps it busy.
 */
export function serveCommand(leave: () => void): Command {
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
    const stopping = hearSignals(log, leave);
    const app = await createApp({ settings, originOf: originOf(loaded), log, signal: stopping.signal }).catch((thrown: unknown) => {
      leave();
      // Whoever asked for it gets no error.
      if (stopping.signal.aborted && thrown instanceof AppError && thrown.code === 'shutting_down') return undefined;
      throw thrown;
    });
    if (app === undefined) {
      log.info({}, 'stopped');
      return;
    }
    const isGoingOn = stopping.started(app);
    if (isGoingOn) console.log(options.json === true ? JSON.stringify({ event: 'ready', ...app.ready }) : readyLine(app.ready));
  });
}

/** What stops the server, from the first moment on. */
interface Stopping {
  /** Aborts when the start is to be given up. */
  readonly signal: AbortSignal;
  /** From now on an app is there to be closed. @returns false when it is closed at once, because a signal came before. */
  started(app: App): boolean;
}

// The handlers stay: a library that writes files listens to signals, too, and sends them on when it is the last one.
function hearSignals(log: Logger, leave: () => void): Stopping {
  const starting = linkAbort();
  const running: { app?: App } = {};
  let isStopping = false;
  const close = (app: App, why: LogFields): void => {
    const open = { openSessions: app.openSessions(), openTurns: app.openTurns() };
    log.info({ ...why, ...open }, 'stopping: new calls are refused, open turns are finished');
    void app.close().then(() => {
      log.info({}, 'stopped');
      leave();
    });
  };
  const stop = (why: LogFields): void => {
    if (isStopping) return;
    isStopping = true;
    if (running.app !== undefined) close(running.app, why);
    else {
      log.info(why, 'stopping: the start is given up');
      starting.abort('shutdown');
    }
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // The second signal is from somebody who does not want to wait.
    if (isStopping) process.exit(EXIT.interrupted);
    stop({ signal });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    signal: starting.signal,
    started: (app) => {
      running.app = app;
      if (isStopping) close(app, {});
      // Who watches the process starts it anew; calls that are running are finished before.
      catchStrayFailures(log, () => {
        process.exitCode = EXIT.failed;
        stop({});
      });
      return !isStopping;
    },
  };
}

/** The one line that says the server is ready. */
export function readyLine({ address, security, bots, dataSources, hasTokenCheck, opsPort, websocket }: ReadySummary): string {
  const check = hasTokenCheck ? 'token check ON' : 'token check OFF';
  const line = `ready  ${address}  ${security}  bots ${bots.join(', ')}  data sources ${String(dataSources)}  ${check}  operations port ${String(opsPort)}`;
  return websocket === undefined ? line : `${line}  WebSocket ${websocket.address} ${websocket.security}`;
}
