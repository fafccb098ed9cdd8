// The server in this process alone.
import { createApp } from '../../app/app.ts';
import { originOf } from '../../app/config/describe-settings.ts';
import { serverLogger } from '../../app/development.ts';
import { printReady } from './ready-line.ts';
import { Reloading } from './reloading.ts';
import { hearSignals, Stopping } from './stopping.ts';
import type { Serving } from './serving.ts';

/** Starts it; it stops when the process is told to. @throws AppError what keeps it from starting. */
export async function serveAlone({ loaded, load, isJson, leave }: Serving): Promise<void> {
  const { settings, changing } = loaded;
  const log = serverLogger(settings);
  if (loaded.ignored.length > 0) {
    const line = { event: 'variables_ignored', variables: loaded.ignored };
    log.warn(line, 'variables of the platform are set and of no use, because admin.enabled is false');
  }
  const stopping = new Stopping({ log, leave });
  hearSignals(stopping);
  const reloading = new Reloading({ loaded, load, log, setLevel: log.setLevel });
  process.on('SIGHUP', () => {
    reloading.ask();
  });
  try {
    const app = await createApp({ settings, originOf: originOf(loaded), changing, log, signal: stopping.signal });
    if (stopping.started(app)) printReady(app.ready, isJson);
    reloading.started(app.checkNow);
  } catch (thrown) {
    stopping.failed(thrown);
  }
}
