// A worker of the load as a child process. Does not know what its messages mean.
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { moduleBeside, runnable } from '../../base/start-worker.ts';
import type { WorkerOrder, WorkerReport } from './worker-messages.ts';

/** Characters that are kept of a worker's output: the last ones, which contain the reason of a failure. */
const LAST_OUTPUT = 2048;

/** A worker, however it runs. */
export interface LoadWorker {
  send(order: WorkerOrder): void;
  /** Passes on the worker's reports and then, as the last one, its end. */
  listen(onReport: (report: WorkerReport) => void, onGone: (why: string) => void): void;
  kill(): void;
}

/** Starts a process, from the compiled program or from the sources. Kill it after use. */
export function startWorkerProcess(): LoadWorker {
  return new WorkerProcess(
    // `advanced` can send bytes. The process does not get our own flags, or two processes would want the same debugging port. In its own
    // process group it does not receive our Ctrl-C and SIGTERM; it ends when the channel closes.
    fork(fileURLToPath(runnable(moduleBeside(import.meta.url, 'load-worker'))), {
      serialization: 'advanced',
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // oxlint-disable-next-line no-restricted-properties -- passed on, not read
      env: { ...process.env, NODE_OPTIONS: '' },
      detached: true,
    }),
  );
}

class WorkerProcess implements LoadWorker {
  readonly #child: ChildProcess;
  #lastOutput = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastOutput = (this.#lastOutput + text).slice(-LAST_OUTPUT);
    });
  }

  send(order: WorkerOrder): void {
    // A worker that has ended has already reported its end.
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  listen(onReport: (report: WorkerReport) => void, onGone: (why: string) => void): void {
    this.#child.on('message', onReport);
    this.#child.once('error', (error) => onGone(error.message));
    // At `exit`, some of the output may not have been read; at `close`, all has.
    this.#child.once('close', (code, signal) => {
      const said = this.#lastOutput.trim();
      onGone(`it ended with ${signal ?? String(code)}${said === '' ? '' : `: ${said}`}`);
    });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
