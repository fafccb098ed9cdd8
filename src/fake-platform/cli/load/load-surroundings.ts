// What `parley load` needs from its process beyond what other commands with calls need: workers, and files to write.
import type { LoadWorker } from '../../load/worker-process.ts';
import type { CallSurroundings } from '../call-surroundings.ts';

/** What the command needs; tests bring their own. */
export interface LoadSurroundings extends CallSurroundings {
  readonly startWorker: () => LoadWorker;
  /** Creates the file if it does not exist, and changes nothing else. Rejects if it cannot be written. */
  readonly touchFile: (file: string) => Promise<void>;
  readonly writeFile: (file: string, text: string) => Promise<void>;
}
