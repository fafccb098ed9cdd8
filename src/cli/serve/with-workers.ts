// The server as several processes: this one, the primary, starts the workers and takes no calls.
import { startPrimary } from '../../app/workers/primary.ts';
import { clusterWorkers } from '../../app/workers/worker-process.ts';
import type { Settings } from '../../app/config/settings.ts';
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { printReady } from './ready-line.ts';
import { beginServing, type Serving } from './serving.ts';

/** Starts the server, which stops on SIGTERM or SIGINT. @throws AppError the error of the start. */
export async function serveWithWorkers(serving: Serving, workers: number): Promise<void> {
  const { settings, changing } = serving.loaded;
  const { own, stopping, systemd } = beginServing('primary', serving);
  const onHopeless = (): void => {
    process.exitCode = EXIT.failed;
    stopping.stop({});
  };
  try {
    demandShared(settings, workers);
    const options = { size: workers, startWorker: clusterWorkers(), clock: systemClock, own, onHopeless, changing };
    const primary = await startPrimary(settings, options, stopping.signal);
    if (!stopping.started(primary)) return;
    printReady(primary.ready, serving.isJson);
    systemd?.follow(primary.readiness);
  } catch (thrown) {
    stopping.failed(thrown);
  }
}

/** Demands the settings that several processes need and one does not. @throws AppError `config_invalid`. */
export function demandShared({ store, websocket, peers }: Settings, workers: number): void {
  const asked = `--workers ${String(workers)}`;
  if (store.kind === 'memory') {
    const why = 'with store.kind memory each worker would know its own calls only, and a call may come to another one with each turn';
    throw new AppError(
      'config_invalid',
      `${asked} needs a store that the workers share: ${why}; set store.kind to redis, or leave --workers out`,
    );
  }
  if (websocket.enabled && websocket.listen === 'ops') {
    const why = 'the operations port belongs to the process that starts the workers, and calls come to the workers';
    throw new AppError('config_invalid', `${asked} does not go with websocket.listen ops: ${why}; set websocket.listen to own`);
  }
  if (peers.port !== 0) {
    const why = 'each worker has a peer port of its own';
    throw new AppError('config_invalid', `${asked} does not go with peers.port ${String(peers.port)}: ${why}; set peers.port to 0`);
  }
}
