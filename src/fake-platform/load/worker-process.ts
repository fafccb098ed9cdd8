// A worker of the load as a child process. Knows that its messages are foreign, and not what they mean.
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { reportSchema, type WorkerOrder, type WorkerReport } from './worker-messages.ts';

/** A worker, wherever it runs. */
export interface LoadWorker {
  send(order: WorkerOrder): void;
  /** What it says, and, last of all, that it is gone. */
  listen(onReport: (report: WorkerReport) => void, onGone: (why: string) => void): void;
  /** Ends it at once. */
  kill(): void;
}

/** Starts a process, from the compiled program and from its sources alike. Whoever starts it kills it. */
export function startWorkerProcess(): LoadWorker {
  const isSource = import.meta.url.endsWith('.ts');
  const file = fileURLToPath(new URL(isSource ? './load-worker.ts' : './load-worker.js', import.meta.url));
  return new WorkerProcess(
    // `advanced` carries bytes. From sources the process needs the development tools' loader; no flag of ours is handed on, or
    // two processes would want one debugging port.
    fork(file, {
      serialization: 'advanced',
      execArgv: isSource ? ['--conditions=development', `--import=${import.meta.resolve('tsx')}`] : [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
}

class WorkerProcess implements LoadWorker {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  send(order: WorkerOrder): void {
    // One that is gone has said so already.
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  listen(onReport: (report: WorkerReport) => void, onGone: (why: string) => void): void {
    this.#child.on('message', (message) => {
      const report = reportSchema.safeParse(message);
      if (report.success) onReport(report.data);
      else {
        this.kill();
        onGone('it said something that is no report');
      }
    });
    this.#child.once('error', (error) => {
      onGone(error.message);
    });
    this.#child.once('exit', (code, signal) => {
      onGone(`it ended with ${signal ?? String(code)}`);
    });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
