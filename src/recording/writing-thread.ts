// Writes recordings in a thread, so that sealing and the disk take no time from calls. The thread starts with the first batch; when it dies,
// the files that it was writing are lost and the next batch gets a new one.
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../base/start-worker.ts';
import type { Appended, RecordingWriter, WriteFailure } from './file-writer.ts';
import type { WritingWorkerData } from './writing-worker.ts';

/** The module of the thread is next to this one, as source or compiled. */
const FILE = new URL(import.meta.url.endsWith('.ts') ? './writing-worker.ts' : './writing-worker.js', import.meta.url);

/** One per recorder. */
export class WritingThread implements RecordingWriter {
  readonly #data: WritingWorkerData;
  #worker: Worker | undefined;
  /** Why the thread died. */
  #error: unknown;
  /** Of the one batch that is written. */
  #settle: (outcomes: readonly WriteFailure[] | undefined) => void = () => undefined;

  /** @param key - seals the files; 32 bytes. */
  constructor(key: Buffer) {
    this.#data = { key };
  }

  async write(batch: readonly Appended[]): Promise<readonly WriteFailure[]> {
    try {
      const outcomes = await this.#outcomes((this.#worker ??= this.#start()), batch);
      if (outcomes !== undefined) return outcomes;
    } catch (thrown) {
      this.#error = thrown;
    }
    this.#worker?.unref();
    const code = `ERR_THREAD: ${this.#error instanceof Error ? this.#error.message : 'it ended'}`;
    return batch.map(() => code);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** @returns undefined when the thread died. */
  async #outcomes(worker: Worker, batch: readonly Appended[]): Promise<readonly WriteFailure[] | undefined> {
    const outcomes = await new Promise<readonly WriteFailure[] | undefined>((resolve) => {
      this.#settle = resolve;
      // While the thread writes, it keeps the process alive.
      worker.ref();
      worker.postMessage(
        batch,
        batch.flatMap(({ pieces }) => pieces.map(({ bytes }) => bytes.buffer)),
      );
    });
    worker.unref();
    return outcomes;
  }

  #start(): Worker {
    const worker = startWorker(FILE, this.#data);
    worker.on('message', (outcomes: readonly WriteFailure[]) => {
      this.#settle(outcomes);
    });
    worker.on('messageerror', () => void worker.terminate());
    // `exit` follows.
    worker.on('error', (error) => {
      this.#error = error;
    });
    worker.on('exit', () => {
      this.#worker = undefined;
      this.#settle(undefined);
    });
    return worker;
  }
}
