// The server in a single process.
import { createApp } from '../../app/app.ts';
import { originOf } from '../../app/config/describe-settings.ts';
import { printReady } from './ready-line.ts';
import { beginServing, type Serving } from './serving.ts';

/** Starts the server, which stops on SIGTERM or SIGINT. @throws AppError the error of the start. */
export async function serveAlone(serving: Serving): Promise<void> {
  const { loaded, isJson } = serving;
  const { settings, changing } = loaded;
  const { own, stopping, systemd } = beginServing('server', serving);
  try {
    const app = await createApp({ settings, originOf: originOf(loaded), changing, own, signal: stopping.signal });
    if (!stopping.started(app)) return;
    printReady(app.ready, isJson);
    systemd?.follow(app.shown.readiness);
  } catch (thrown) {
    stopping.failed(thrown);
  }
}
