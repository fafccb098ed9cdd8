// What every variant of `serve` receives, and the signal handlers that come first.
import type { LoadedSettings } from '../../app/config/load-settings.ts';
import { ownProcess } from '../../app/control/own-process.ts';
import { systemClock } from '../../base/clock.ts';
import { SystemdNotifier } from './systemd-notifier.ts';
import { onSignals, Stopping } from './stopping.ts';

/** The settings, and the options of the command. */
export interface Serving {
  readonly loaded: LoadedSettings;
  /** Reads the settings again. @throws AppError `config_invalid`. */
  readonly load: () => LoadedSettings;
  /** Whether to print the ready line as JSON. */
  readonly isJson: boolean;
  /** Ends the process soon, even when something keeps a timer or a socket open. */
  readonly leave: () => void;
}

/** From now on SIGTERM and SIGINT stop the server, also during the start, and SIGHUP reloads. @param name - see {@link ownProcess}. */
export function beginServing(name: string, { loaded, load, leave }: Serving) {
  const own = ownProcess(name, loaded, load);
  const { log } = own;
  if (loaded.ignored.length > 0) {
    const line = { event: 'variables_ignored', variables: loaded.ignored };
    log.warn(line, 'variables of the platform are set and of no use, because admin.enabled is false');
  }
  const systemd = SystemdNotifier.find({ clock: systemClock, log });
  const stopping = new Stopping({ log, leave, onStop: () => systemd?.stopping() });
  onSignals(stopping);
  process.on('SIGHUP', () => {
    void own.control.everywhere({ kind: 'reload' });
  });
  return { own, stopping, systemd };
}
