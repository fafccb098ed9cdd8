// Processes that share their listening sockets, by node:cluster: connections are dealt out in turn. Both ends of the channel
// stand here, and nowhere else is the module seen.
import cluster, { type Worker } from 'node:cluster';
import { fromWorker, toWorker, type FromWorker, type Sent, type ToWorker } from './messages.ts';
import type { PrimaryLink, StartWorker, WorkerExit } from './worker-process.ts';

/** Starts this program again, with the same arguments, as a worker of this process. */
export const startWorker: StartWorker = ({ onMessage, onExit }) => {
  // Idempotent; it has to come before the first fork. The default would send numbers that are none (NaN) as null.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ serialization: 'advanced' });
  const worker = cluster.fork();
  endWithThisProcess(worker);
  worker.on('message', (sent: unknown) => {
    const message = fromWorker(sent);
    if (message !== undefined) onMessage(message);
  });
  let exit: WorkerExit | undefined;
  // Its last words may still be on their way when it has ended.
  const ended = (): void => {
    if (exit !== undefined && !worker.isConnected()) onExit(exit);
  };
  worker.once('exit', (code: number | null, signal: string | null) => {
    exit = { code, signal };
    ended();
  });
  worker.once('disconnect', ended);
  worker.on('error', () => {
    // One that could not be started has no end. Otherwise something could not be sent to a process that is just ending.
    if (worker.process.pid === undefined && exit === undefined) {
      exit = { code: null, signal: null };
      onExit(exit);
    }
  });
  return {
    id: worker.id,
    pid: worker.process.pid,
    send: (message) => {
      if (worker.isConnected()) worker.send({ parley: message } satisfies Sent<ToWorker>, () => undefined);
    },
    stop: () => {
      worker.process.kill('SIGTERM');
    },
    kill: () => {
      worker.process.kill('SIGKILL');
    },
  };
};

/** Workers that are alive. */
const alive = new Set<Worker>();
let isWatching = false;

/** However this process ends, short of being killed: no worker stays behind. */
function endWithThisProcess(worker: Worker): void {
  alive.add(worker);
  worker.once('exit', () => alive.delete(worker));
  if (isWatching) return;
  isWatching = true;
  process.once('exit', () => {
    for (const each of alive) each.process.kill('SIGKILL');
  });
}

/** The process that started this one as its worker; undefined when none did. */
export function primaryLink(): PrimaryLink | undefined {
  const { worker } = cluster;
  if (!cluster.isWorker || worker === undefined) return undefined;
  return {
    id: worker.id,
    send: (message) =>
      new Promise((resolve) => {
        const sent: Sent<FromWorker> = { parley: message };
        const done = (): void => {
          resolve();
        };
        if (!worker.isConnected()) done();
        else worker.send(sent, done);
      }),
    onMessage: (listener) => {
      worker.on('message', (sent: unknown) => {
        const message = toWorker(sent);
        if (message !== undefined) listener(message);
      });
    },
    onLost: (listener) => {
      worker.once('disconnect', () => {
        // Without this Node ends the process before it has finished a single call.
        worker.exitedAfterDisconnect = true;
        listener();
      });
    },
    leave: () => {
      if (worker.isConnected()) worker.disconnect();
    },
  };
}
