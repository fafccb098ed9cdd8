// What a command uses of its process and its files: output, exit code, the user's Ctrl-C, and reading within bounds.
import { readFile, stat } from 'node:fs/promises';
import { holdProcess, systemClock, type Clock } from '../clock.ts';

/** What a command uses of its surroundings; tests bring their own. */
export interface CommandSurroundings {
  readonly clock: Clock;
  readonly isColoured: boolean;
  /** A terminal on which progress can be drawn over itself; undefined where there is none. */
  readonly progress?: NodeJS.WriteStream | undefined;
  readonly print: (line: string) => void;
  readonly complain: (line: string) => void;
  readonly setExitCode: (code: number) => void;
  /** Calls `listener` once when the user wants to stop, and keeps the process alive until the function returned is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
}

/** This process. */
export function processSurroundings(): CommandSurroundings {
  return {
    clock: systemClock,
    isColoured: process.stdout.isTTY && process.stdout.hasColors(),
    progress: process.stderr.isTTY ? process.stderr : undefined,
    print: (line) => {
      console.log(line);
    },
    complain: (line) => {
      console.error(line);
    },
    setExitCode: (code) => {
      process.exitCode = code;
    },
    onInterrupt: (listener) => {
      // Between two RPCs nothing else would keep the process alive.
      const release = holdProcess();
      process.once('SIGINT', listener);
      process.once('SIGTERM', listener);
      return () => {
        release();
        process.off('SIGINT', listener);
        process.off('SIGTERM', listener);
      };
    },
  };
}

const MAX_FILE_BYTES = 100 * 1024 * 1024;

/**
 * Reads a file of at most 100 MB.
 *
 * @throws RangeError with a sentence for the user when it cannot be read.
 */
export async function readBounded(file: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new RangeError(`${file} is larger than ${String(MAX_FILE_BYTES)} bytes`);
    return await readFile(file);
  } catch (error) {
    if (isFileError(error)) throw new RangeError(`${file} cannot be read: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Whether the operating system refused something about a file. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
