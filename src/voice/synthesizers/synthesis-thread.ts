// One worker thread and its queue of texts: bounded, with a deadline for each text. A thread that hangs or dies is
// replaced; an idle one is ended. Knows nothing of what the thread does with a text.
import type { Worker } from 'node:worker_threads';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { startWorker } from '../../base/start-worker.ts';

/** A text in pieces, and the voice for it. */
export interface SpokenText {
  readonly voice: string;
  readonly pieces: readonly string[];
}

/** One text for the thread. */
export interface ThreadRequest extends SpokenText {
  readonly id: number;
}

/** The answer of the thread. `reason` never contains the text. */
export type ThreadAnswer =
  | { readonly kind: 'spoken'; readonly id: number; readonly mulaw: Uint8Array }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

export interface SynthesisThreadOptions {
  /** The module that runs in the thread: answers each {@link ThreadRequest} with one {@link ThreadAnswer}. */
  readonly file: URL;
  /** The `workerData` of the module. */
  readonly data: unknown;
  readonly clock: Clock;
  /** Longest time from request to answer, and longest time in the thread, for one text, ms; default 10,000. */
  readonly limitMs?: number;
  /** Most waiting texts; further ones fail at once; default 256. */
  readonly maxWaiting?: number;
  /** A thread idle for this long is ended to free its memory, ms; default 60,000. */
  readonly idleMs?: number;
}

interface Job {
  readonly id: number;
  readonly text: SpokenText;
  /** Set once the request is answered or aborted. */
  isSettled: boolean;
  finish(outcome: Uint8Array | AppError): void;
}

/** Speaks texts one at a time in a thread that starts with the first text. */
export class SynthesisThread {
  readonly #options: Required<SynthesisThreadOptions>;
  readonly #waiting: Job[] = [];
  readonly #ending = new Set<Promise<unknown>>();
  #worker: Worker | undefined;
  #running: Job | undefined;
  #cancelTimer: CancelTimer = () => undefined;
  #nextId = 1;
  #isClosed = false;

  constructor(options: SynthesisThreadOptions) {
    this.#options = { limitMs: 10_000, maxWaiting: 256, idleMs: 60_000, ...options };
  }

  /** Whether the thread is running. */
  get isAwake(): boolean {
    return this.#worker !== undefined;
  }

  /** @throws AppError `synthesis_failed`, also when `signal` aborts. */
  speak(text: SpokenText, signal: AbortSignal): Promise<Uint8Array> {
    if (this.#isClosed) return Promise.reject(failure('the synthesizer is closed'));
    if (signal.aborted) return Promise.reject(failure('the text is no longer needed'));
    if (this.#waiting.length >= this.#options.maxWaiting) return Promise.reject(failure('too many texts are waiting to be spoken'));
    return new Promise((resolve, reject) => {
      const giveUp = (reason: string): void => {
        this.#forget(job);
        job.finish(failure(reason));
      };
      const onAbort = (): void => {
        giveUp('the text is no longer needed');
      };
      const cancelDeadline = this.#options.clock.after(this.#options.limitMs, () => {
        giveUp('the text was not synthesized in time');
      });
      const job: Job = {
        id: this.#nextId++,
        text,
        isSettled: false,
        finish: (outcome) => {
          if (job.isSettled) return;
          job.isSettled = true;
          cancelDeadline();
          signal.removeEventListener('abort', onAbort);
          if (outcome instanceof AppError) reject(outcome);
          else resolve(outcome);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(job);
      this.#next();
    });
  }

  /** Fails pending texts and ends the thread; resolves when it has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#waiting.splice(0), ...(this.#running === undefined ? [] : [this.#running])];
    for (const job of open) job.finish(failure('the synthesizer is closed'));
    this.#endThread();
    await Promise.all(this.#ending);
  }

  /** Removes a job from the queue. A job already in the thread stays: only its deadline shows whether the thread hangs. */
  #forget(job: Job): void {
    const index = this.#waiting.indexOf(job);
    if (index !== -1) this.#waiting.splice(index, 1);
  }

  #next(): void {
    if (this.#running !== undefined) return;
    this.#cancelTimer();
    const job = this.#waiting.shift();
    if (job === undefined) {
      this.#rest();
      return;
    }
    this.#running = job;
    const request: ThreadRequest = { id: job.id, ...job.text };
    try {
      const worker = (this.#worker ??= this.#start());
      // While the thread works on a text, it keeps the process alive.
      worker.ref();
      worker.postMessage(request);
    } catch (cause) {
      this.#lost(`the thread did not start: ${cause instanceof Error ? cause.message : 'unknown'}`);
      return;
    }
    this.#cancelTimer = this.#options.clock.after(this.#options.limitMs, () => {
      this.#lost('the text was not synthesized in time');
    });
  }

  #rest(): void {
    this.#worker?.unref();
    this.#cancelTimer =
      this.#worker === undefined
        ? () => undefined
        : this.#options.clock.after(this.#options.idleMs, () => {
            this.#endThread();
          });
  }

  #start(): Worker {
    const { file, data } = this.#options;
    const worker = startWorker(file, data);
    worker.on('message', (answer: ThreadAnswer) => {
      if (this.#worker === worker) this.#answered(answer);
    });
    worker.on('error', (cause) => {
      if (this.#worker === worker) this.#lost(`the thread failed: ${cause instanceof Error ? cause.message : 'unknown'}`);
    });
    worker.on('exit', (code) => {
      if (this.#worker === worker) this.#lost(`the thread ended with code ${String(code)}`);
    });
    return worker;
  }

  #answered(answer: ThreadAnswer): void {
    const job = this.#running;
    if (job?.id !== answer.id) return;
    this.#running = undefined;
    job.finish(answer.kind === 'spoken' ? answer.mulaw : failure(answer.reason));
    this.#next();
  }

  /** The thread hangs or has died: its text fails, and the next one gets a new thread. */
  #lost(reason: string): void {
    const job = this.#running;
    this.#endThread();
    job?.finish(failure(reason));
    this.#next();
  }

  #endThread(): void {
    this.#cancelTimer();
    this.#running = undefined;
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#worker = undefined;
    const ended = worker.terminate().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}

function failure(reason: string): AppError {
  return new AppError('synthesis_failed', reason);
}
