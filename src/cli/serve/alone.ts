// The server in this process alone.
import { createApp } from '../../app/app.ts';
import { originOf } from '../../app/config/describe-settings.ts';
import { printReady } from './ready-line.ts';
import { beginServing, type Serving } from './serving.ts';

/** Starts it; it stops when the process is asked to. @throws AppError what keeps it from starting. */
export async function serveAlone(serving: Serving): Promise<void> {
  const { loaded, isJson } = serving;
  const { settings, changing } = loaded;
  const { log, stopping, reloading } = beginServing(serving);
  try {
    const app = await createApp({ settings, originOf: originOf(loaded), changing, log, signal: stopping.signal });
    if (stopping.started(app)) printReady(app.ready, isJson);
    reloading.started(app.checkNow);
  } catch (thrown) {
    stopping.failed(thrown);
  }
}
