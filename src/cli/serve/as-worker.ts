// The server as a worker: sends its messages to the primary process instead of printing them, and stops when the primary says
// so.
import { createApp } from '../../app/app.ts';
import { originOf } from '../../app/config/describe-settings.ts';
import { ownProcess } from '../../app/control/own-process.ts';
import { attendPrimary, type PrimaryLink } from '../../app/workers/primary-link.ts';
import { systemClock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { Stopping } from './stopping.ts';
import type { Serving } from './serving.ts';

/** Starts it. @throws errors without a text of ours; the primary is notified in any case. */
export async function serveAsWorker({ loaded, load, leave }: Serving, link: PrimaryLink): Promise<void> {
  const { settings, changing } = loaded;
  const own = ownProcess(`worker ${String(link.id)}`, loaded, load, {
    fields: { worker: link.id },
    startsDrained: link.startsDrained,
  });
  const { log } = own;
  const stopping = new Stopping({
    log,
    leave: () => {
      link.leave();
      leave();
    },
  });
  onPrimary(stopping, link);
  try {
    const app = await createApp({ settings, originOf: originOf(loaded), changing, own, signal: stopping.signal, isWorker: true });
    const close = attendPrimary(app, { link, control: own.control, clock: systemClock, log });
    stopping.started({ ...app, close });
  } catch (thrown) {
    const { code, message, details } = toAppError(thrown);
    if (code !== 'shutting_down') await link.send({ kind: 'failed', code, message, details });
    try {
      stopping.failed(thrown);
    } catch (error) {
      process.exitCode = EXIT.failed;
      // The primary prints it, once for all workers.
      if (!(error instanceof AppError)) throw error;
    }
  }
}

/**
 * Stops when the primary says so or is gone, and never at once: calls are finished. SIGTERM may come from the primary and at the same
 * time from a service manager; a terminal sends SIGINT to every process of its group, and only the primary
 * knows whether it was the second one.
 */
function onPrimary(stopping: Stopping, link: PrimaryLink): void {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', (signal) => {
    stopping.stop({ signal });
  });
  link.onLost(() => {
    stopping.stop({ event: 'primary_lost' });
  });
}
