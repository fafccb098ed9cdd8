// What every variant of `serve` receives, and the signal handlers that come first.
import { serverLogger } from '../../app/development.ts';
import type { LoadedSettings } from '../../app/config/load-settings.ts';
import { Reloading } from './reloading.ts';
import { onSignals, Stopping } from './stopping.ts';

/** The settings, and the options of the command. */
export interface Serving {
  readonly loaded: LoadedSettings;
  /** Reads them again. @throws AppError `config_invalid`. */
  readonly load: () => LoadedSettings;
  /** Print the ready line as JSON. */
  readonly isJson: boolean;
  /** Ends the process soon, whatever may keep it busy. */
  readonly leave: () => void;
}

/** From now on SIGTERM and SIGINT stop the server, also during the start, and SIGHUP reloads. */
export function beginServing({ loaded, load, leave }: Serving) {
  const log = serverLogger(loaded.settings);
  if (loaded.ignored.length > 0) {
    const line = { event: 'variables_ignored', variables: loaded.ignored };
    log.warn(line, 'variables of the platform are set and of no use, because admin.enabled is false');
  }
  const stopping = new Stopping({ log, leave });
  onSignals(stopping);
  const reloading = new Reloading({ loaded, load, log, setLevel: log.setLevel });
  process.on('SIGHUP', () => {
    reloading.ask();
  });
  return { log, stopping, reloading };
}
