// A worker as the process sees it that starts it. Workers share their listening sockets by node:cluster, which deals connections
// out in turn. What they say it does not know.
import cluster from 'node:cluster';
import { isSent, type FromWorker, type Sent, type ToWorker } from './messages.ts';

export interface WorkerProcess {
  /** Grows from start to start; it stands in the log. */
  readonly id: number;
  /** Undefined: it could not even be started, and has exited. */
  readonly pid: number | undefined;
  /** Resolves when it has ended and its last message was received. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Does nothing when it is gone. */
  send(message: ToWorker): void;
  /** SIGTERM: it finishes its calls and ends. SIGKILL: it ends at once. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

export type StartWorker = (onMessage: (message: FromWorker) => void) => WorkerProcess;

/** How this program is started once more, with the same arguments. However this process ends, short of being killed, no worker stays. */
export function clusterWorkers(): StartWorker {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // The default would send numbers that are none (NaN) as null.
  cluster.setupPrimary({ serialization: 'advanced' });
  process.once('exit', () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  });
  return (onMessage) => {
    const worker = cluster.fork();
    const { id, process: child } = worker;
    worker.on('message', (sent: unknown) => {
      if (isSent<FromWorker>(sent)) onMessage(sent.parley);
    });
    const exited: WorkerProcess['exited'] = new Promise((resolve) => {
      // Not 'exit': its last message may still be on its way then.
      child.once('close', (code, signal) => {
        resolve({ code, signal });
      });
      worker.on('error', () => {
        // One that was not started may never close. Otherwise something could not be sent to a process that is just ending.
        if (child.pid === undefined) resolve({ code: null, signal: null });
      });
    });
    const send = (parley: ToWorker): void => {
      if (worker.isConnected()) worker.send({ parley } satisfies Sent<ToWorker>, () => undefined);
    };
    return { id, pid: child.pid, exited, send, kill: (signal) => void child.kill(signal) };
  };
}
