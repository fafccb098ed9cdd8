// Writes recordings in the background, one piece after the other. Whatever the disk does, it costs recordings and never calls: what
// waits is bounded, and a file that cannot be written is given up.
import { constants } from 'node:fs';
import { mkdir, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';

/** Most bytes that wait for the disk: a second of two thousand calls. */
const MAX_WAITING_BYTES = 33_554_432;
/** Shortest time between two warnings, ms. */
const WARNING_MS = 60_000;

/** Why a recording was lost: the disk failed or is full, or it was too slow. */
export type RecordingLoss = 'disk' | 'slow_disk';
export const RECORDING_LOSSES = ['disk', 'slow_disk'] as const satisfies readonly RecordingLoss[];

/** One file that is written. */
export interface WrittenFile {
  readonly path: string;
  /** What has been written so far reads up to the cut, and nothing more comes. */
  isLost: boolean;
  /** It exists. */
  isBegun: boolean;
}

export interface WriteQueueOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** A recording was given up, once each. */
  readonly onLost: (loss: RecordingLoss) => void;
  /** Default: the disk. */
  readonly append?: typeof appendToFile;
}

interface Waiting {
  readonly file: WrittenFile;
  readonly bytes: number;
  /** Makes what is written; called when its turn comes. */
  readonly piece: () => Uint8Array;
  readonly onDone: (() => void) | undefined;
}

/** Owned by the recorder. No method throws. */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #append: typeof appendToFile;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #warnedAtMs = -Infinity;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
    this.#append = options.append ?? appendToFile;
  }

  /**
   * Adds a piece to the end of a file.
   *
   * @param bytes - its size, about.
   * @param onDone - called when `piece` is no longer needed, also when the file is lost.
   */
  add(file: WrittenFile, bytes: number, piece: () => Uint8Array, onDone?: () => void): void {
    if (!file.isLost && this.#waitingBytes + bytes > MAX_WAITING_BYTES)
      this.#lose(
        file,
        'slow_disk',
        'recordings are lost, because recordings.folder takes them too slowly: choose a faster disk or lower recordings.share',
      );
    if (file.isLost) {
      onDone?.();
      return;
    }
    this.#waiting.push({ file, bytes, piece, onDone });
    this.#waitingBytes += bytes;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when everything that waits is written or lost. */
  async written(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // After the caller's code: sealing takes its time.
    await new Promise(setImmediate);
    for (let batch = this.#waiting; batch.length > 0; batch = this.#waiting) {
      this.#waiting = [];
      for (const waiting of batch) {
        await this.#write(waiting);
        this.#waitingBytes -= waiting.bytes;
      }
    }
  }

  async #write({ file, piece, onDone }: Waiting): Promise<void> {
    try {
      if (!file.isLost) await this.#append(file, piece());
    } catch (thrown) {
      const code = thrown instanceof Error ? String(Reflect.get(thrown, 'code') ?? thrown.name) : 'unknown';
      this.#lose(
        file,
        'disk',
        'recordings are lost, because recordings.folder cannot be written: free space there or mend its rights',
        code,
      );
    } finally {
      onDone?.();
    }
  }

  #lose(file: WrittenFile, loss: RecordingLoss, text: string, code?: string): void {
    const { clock, log, onLost } = this.#options;
    file.isLost = true;
    onLost(loss);
    if (clock.monotonicMs() - this.#warnedAtMs < WARNING_MS) return;
    this.#warnedAtMs = clock.monotonicMs();
    log.warn({ event: 'recordings_lost', reason: loss, code }, text);
  }
}

/** Appends to a file and makes it first, with its folder. A file that somebody has deleted meanwhile is not made again. */
export async function appendToFile(file: WrittenFile, bytes: Uint8Array): Promise<void> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = constants;
  if (!file.isBegun) await mkdir(dirname(file.path), { recursive: true, mode: 0o700 });
  const handle = await open(file.path, O_WRONLY | O_APPEND | (file.isBegun ? 0 : O_CREAT | O_EXCL), 0o600);
  try {
    await handle.appendFile(bytes);
    file.isBegun = true;
  } catch (thrown) {
    // Without its header it is no recording.
    if (!file.isBegun) await unlink(file.path).catch(() => undefined);
    throw thrown;
  } finally {
    await handle.close();
  }
}
