// What `parley load` uses of the process beyond what calls do: workers, and files it writes.
import type { LoadWorker } from '../../load/worker-process.ts';
import type { CallSurroundings } from '../call-surroundings.ts';

/** What the command uses of its surroundings; tests bring their own. */
export interface LoadSurroundings extends CallSurroundings {
  readonly startWorker: () => LoadWorker;
  /** Makes the file when it is not there, and changes nothing else. Rejects where it could not be written. */
  readonly touchFile: (file: string) => Promise<void>;
  readonly writeFile: (file: string, text: string) => Promise<void>;
}
