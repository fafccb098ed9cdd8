// Writes recordings in the background, one file after the other. A slow or broken disk can lose recordings but never disturbs calls: the
// waiting bytes are limited, and a file that cannot be written is given up.
import { constants } from 'node:fs';
import { mkdir, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';

/** Most bytes that wait for the disk: one second of two thousand calls. */
const MAX_WAITING_BYTES = 33_554_432;
/** Shortest time between two warnings, ms. */
const WARNING_MS = 60_000;
/** How long a piece waits for further pieces of its file, ms. */
const PAUSE_MS = 250;
const SLOW_DISK = 'recordings are lost, because recordings.folder takes them too slowly: choose a faster disk or lower recordings.share';
const FAILED_DISK = 'recordings are lost, because recordings.folder cannot be written: free space there or mend its rights';

/** Why a recording was lost: the disk failed or is full, or the disk was too slow. */
export type RecordingLoss = 'disk' | 'slow_disk';

/** One file that is written. */
export interface WrittenFile {
  readonly path: string;
  /** No more is written; the file can be read up to the cut. */
  isLost: boolean;
  /** The file exists. */
  isBegun: boolean;
}

export interface WriteQueueOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called once for each recording that is given up. */
  readonly onLost: (loss: RecordingLoss) => void;
  /** Default: writes to the disk. */
  readonly append?: typeof appendToFile;
}

interface Waiting {
  readonly bytes: number;
  /** Makes the bytes; called when they are written. */
  readonly piece: () => readonly Uint8Array[];
  readonly onDone: (() => void) | undefined;
}

/** The queue of one recorder. No method throws. */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #append: typeof appendToFile;
  #waiting = new Map<WrittenFile, Waiting[]>();
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #hurry: () => void = () => undefined;
  #warnedAtMs = -Infinity;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
    this.#append = options.append ?? appendToFile;
  }

  /**
   * Adds a piece to the end of a file.
   *
   * @param bytes - approximate size of the piece.
   * @param piece - makes the piece, in parts.
   * @param onDone - called when `piece` is no longer needed, also when the file is lost.
   */
  add(file: WrittenFile, bytes: number, piece: () => readonly Uint8Array[], onDone?: () => void): void {
    if (!file.isLost && this.#waitingBytes + bytes > MAX_WAITING_BYTES) this.#lose(file, 'slow_disk', SLOW_DISK);
    if (file.isLost) {
      onDone?.();
      return;
    }
    const pieces = this.#waiting.get(file);
    const waiting = { bytes, piece, onDone };
    if (pieces === undefined) this.#waiting.set(file, [waiting]);
    else pieces.push(waiting);
    this.#waitingBytes += bytes;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when everything that was waiting is written or lost. */
  async written(): Promise<void> {
    this.#hurry();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    await this.#pause();
    for (let batch = this.#waiting; batch.size > 0; batch = this.#waiting) {
      this.#waiting = new Map();
      for (const [file, pieces] of batch) await this.#write(file, pieces);
    }
  }

  /** Waits, so that pieces which come shortly after each other are written together. */
  async #pause(): Promise<void> {
    let cancel: () => void = () => undefined;
    await new Promise<void>((resolve) => {
      this.#hurry = resolve;
      cancel = this.#options.clock.after(PAUSE_MS, resolve);
    });
    cancel();
  }

  async #write(file: WrittenFile, pieces: readonly Waiting[]): Promise<void> {
    try {
      if (!file.isLost)
        await this.#append(
          file,
          pieces.flatMap(({ piece }) => piece()),
        );
    } catch (thrown) {
      const code = thrown instanceof Error ? String(Reflect.get(thrown, 'code') ?? thrown.name) : 'unknown';
      // The file was deleted, which says nothing about the disk.
      if (file.isBegun && code === 'ENOENT') file.isLost = true;
      else this.#lose(file, 'disk', FAILED_DISK, code);
    } finally {
      for (const { bytes, onDone } of pieces) {
        this.#waitingBytes -= bytes;
        onDone?.();
      }
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

/** Appends to a file; the first time it creates file and folder. A file that was deleted meanwhile is not created again. */
export async function appendToFile(file: WrittenFile, parts: readonly Uint8Array[]): Promise<void> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = constants;
  if (!file.isBegun) await mkdir(dirname(file.path), { recursive: true, mode: 0o700 });
  const handle = await open(file.path, O_WRONLY | O_APPEND | (file.isBegun ? 0 : O_CREAT | O_EXCL), 0o600);
  try {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const { bytesWritten } = await handle.writev(parts);
    if (bytesWritten < bytes) throw Object.assign(new Error('the disk took only a part'), { code: 'ENOSPC' });
    file.isBegun = true;
  } catch (thrown) {
    // A file without its header is no recording.
    if (!file.isBegun) await unlink(file.path).catch(() => undefined);
    throw thrown;
  } finally {
    await handle.close();
  }
}
