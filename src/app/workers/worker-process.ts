// A worker process as the primary sees it. Workers share listening sockets through node:cluster, which distributes connections in turn.
// Does not know the messages.
import cluster from 'node:cluster';
import { isSent, type FromWorker, type Sent, type ToWorker } from './messages.ts';
import { SERVER_FLAGS } from './node-flags.ts';

export interface WorkerProcess {
  /** Increases with each started worker; appears in the log. */
  readonly id: number;
  /** Undefined when the process could not be started. */
  readonly pid: number | undefined;
  /** Resolves when the process has ended and its last message has arrived. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Has no effect when the process has ended. */
  send(message: ToWorker): void;
  /** SIGTERM: the worker finishes its calls and ends. SIGKILL: it ends at once. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** @param startsDrained - whether the worker takes no new calls until it is undrained. */
export type StartWorker = (onMessage: (message: FromWorker) => void, startsDrained: boolean) => WorkerProcess;

/** The variable that starts a worker drained: a message could arrive after the worker has joined the other servers. */
export const STARTS_DRAINED = 'WORKER_STARTS_DRAINED';

/** Starts this program again with the same arguments. Workers end when this process exits, unless it is killed. */
export function clusterWorkers(): StartWorker {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // The default serialization sends NaN as null.
  cluster.setupPrimary({ serialization: 'advanced', execArgv: [...process.execArgv, ...SERVER_FLAGS] });
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
      // Not 'exit', after which the last message may still arrive.
      child.once('close', (code, signal) => {
        resolve({ code, signal });
      });
      worker.on('error', () => {
        // A process that did not start may never close. Other errors concern messages to a process that is just ending.
        if (child.pid === undefined) resolve({ code: null, signal: null });
      });
    });
    const send = (parley: ToWorker): void => {
      if (worker.isConnected()) worker.send({ parley } satisfies Sent<ToWorker>, () => undefined);
    };
    return { id, pid: child.pid, exited, send, kill: (signal) => void child.kill(signal) };
  };
}
