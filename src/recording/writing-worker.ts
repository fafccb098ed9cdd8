// The thread that seals and writes recordings: see writing-thread.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { FileWriter, type Appended } from './file-writer.ts';

/** The `workerData`. */
export interface WritingWorkerData {
  readonly key: Uint8Array;
}

const { key } = workerData as WritingWorkerData; // Set by writing-thread.ts.
const writer = new FileWriter(Buffer.from(key));

parentPort?.on('messageerror', (error) => {
  throw error;
});
parentPort?.on('message', (batch: readonly Appended[]) => {
  parentPort?.postMessage(batch.map((appended) => writer.append(appended)));
});
