// Writes recordings in a thread, so that sealing and the disk take no time from calls. The thread starts with the first batch; when it dies,
// the files that it was writing are lost and the next batch gets a new one.
import type { Worker } from 'node:worker_threads';
import { moduleBeside, startWorker } from '../base/start-worker.ts';
import type { Appended, RecordingWriter, WriteFailure } from './file-writer.ts';
import type { WritingWorkerData } from './writing-worker.ts';

/** One per recorder. */
export class WritingThread implements RecordingWriter {
  readonly #data: WritingWorkerData;
  #worker: Worker | undefined;
  /** Settle the one batch that is written. */
  #resolve: (outcomes: readonly WriteFailure[]) => void = () => undefined;
  #reject: (cause: unknown) => void = () => undefined;

  /** @param key - seals the files; 32 bytes. */
  constructor(key: Buffer) {
    this.#data = { key };
  }

  async write(batch: readonly Appended[]): Promise<readonly WriteFailure[]> {
    try {
      const worker = (this.#worker ??= this.#start());
      return await new Promise<readonly WriteFailure[]>((resolve, reject) => {
        [this.#resolve, this.#reject] = [resolve, reject];
        // While the thread writes, it keeps the process alive.
        worker.ref();
        worker.postMessage(
          batch,
          batch.flatMap(({ pieces }) => pieces.map(({ bytes }) => bytes.buffer)),
        );
      });
    } catch (thrown) {
      const code = `ERR_THREAD: ${thrown instanceof Error ? thrown.message : 'it ended'}`;
      return batch.map(() => code);
    } finally {
      this.#worker?.unref();
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = startWorker(moduleBeside(import.meta.url, 'writing-worker'), this.#data);
    let cause: unknown;
    worker.on('message', (outcomes: readonly WriteFailure[]) => {
      this.#resolve(outcomes);
    });
    worker.on('messageerror', () => void worker.terminate());
    // `exit` follows.
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      this.#worker = undefined;
      this.#reject(cause);
    });
    return worker;
  }
}
