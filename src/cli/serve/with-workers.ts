// The server as several processes: this one starts the others and takes no calls.
import { serverLogger } from '../../app/development.ts';
import { startWorker } from '../../app/workers/cluster-processes.ts';
import { startPrimary } from '../../app/workers/primary.ts';
import { systemClock } from '../../base/clock.ts';
import { EXIT } from '../failure.ts';
import { printReady } from './ready-line.ts';
import { Reloading } from './reloading.ts';
import { hearSignals, Stopping } from './stopping.ts';
import type { Serving } from './serving.ts';

/** Starts it; it stops when this process is told to. @throws AppError what keeps it from starting. */
export async function serveWithWorkers({ loaded, load, isJson, leave }: Serving, workers: number): Promise<void> {
  const { settings } = loaded;
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
  const onHopeless = (): void => {
    process.exitCode = EXIT.failed;
    stopping.stop({});
  };
  try {
    const primary = await startPrimary({
      ...{ settings, workers, startWorker, log, onHopeless },
      clock: systemClock,
      signal: stopping.signal,
    });
    if (stopping.started(primary)) printReady(primary.ready, isJson);
    // The files are those of the workers, each of which says what it has read.
    reloading.started(() => {
      primary.reload();
      return Promise.resolve([]);
    });
  } catch (thrown) {
    stopping.failed(thrown);
  }
}
