// A worker as its primary sees it. Workers share listening sockets through node:cluster, which deals connections out in turn. Does
// not know the messages.
import cluster from 'node:cluster';
import { isSent, type FromWorker, type Sent, type ToWorker } from './messages.ts';

export interface WorkerProcess {
  /** Increases with each start; appears in the log. */
  readonly id: number;
  /** Undefined: the process could not be started and has exited. */
  readonly pid: number | undefined;
  /** Resolves when it has ended and its last message has arrived. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Does nothing when the process is gone. */
  send(message: ToWorker): void;
  /** SIGTERM: it finishes its calls and ends. SIGKILL: it ends at once. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** @param startsDrained - it takes no new calls until it is undrained. */
export type StartWorker = (onMessage: (message: FromWorker) => void, startsDrained: boolean) => WorkerProcess;

/** The variable that says so: a message could come after the worker has joined the other servers. */
export const STARTS_DRAINED = 'WORKER_STARTS_DRAINED';

/** Starts this program once more with the same arguments. No worker outlives this process, unless this process is killed. */
export function clusterWorkers(): StartWorker {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // The default serialization would send NaN as null.
  cluster.setupPrimary({ serialization: 'advanced' });
  process.once('exit', () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  });
  return (onMessage, startsDrained) => {
    const worker = cluster.fork({ [STARTS_DRAINED]: startsDrained });
    const { id, process: child } = worker;
    worker.on('message', (sent: unknown) => {
      if (isSent<FromWorker>(sent)) onMessage(sent.parley);
    });
    const exited: WorkerProcess['exited'] = new Promise((resolve) => {
      // Not 'exit': its last message may still be under way then.
      child.once('close', (code, signal) => {
        resolve({ code, signal });
      });
      worker.on('error', () => {
        // A process that did not start may never close. The other errors concern messages to a process that is just ending.
        if (child.pid === undefined) resolve({ code: null, signal: null });
      });
    });
    const send = (parley: ToWorker): void => {
      if (worker.isConnected()) worker.send({ parley } satisfies Sent<ToWorker>, () => undefined);
    };
    return { id, pid: child.pid, exited, send, kill: (signal) => void child.kill(signal) };
  };
}
