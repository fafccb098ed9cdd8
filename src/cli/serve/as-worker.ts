// The server as a worker: sends its messages to the primary process instead of printing them, and stops when the primary says so.
import { createApp } from '../../app/app.ts';
import { originOf } from '../../app/config/describe-settings.ts';
import { ownProcess } from '../../app/control/own-process.ts';
import { attendPrimary, type PrimaryLink } from '../../app/workers/primary-link.ts';
import { systemClock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { Stopping } from './stopping.ts';
import type { Serving } from './serving.ts';

/** Starts the worker. @throws any error but an AppError; the primary is notified of every error. */
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
      // The primary prints an AppError, once for all workers.
      if (!(error instanceof AppError)) throw error;
    }
  }
}

/**
 * Stops when the primary says so or is gone, and finishes calls first. SIGTERM may come from the primary and from a service manager, so a
 * second one does not hurry the stop. A terminal sends SIGINT to every process of its group; the primary answers it for all.
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
