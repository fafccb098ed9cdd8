// Collects what is recorded and has it written in batches. A slow or broken disk can lose recordings but never disturbs calls: the waiting
// bytes are limited, and a file that cannot be written is given up.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Appended, RecordingWriter, WriteFailure } from './file-writer.ts';
import type { PlainPiece } from './sealed-file.ts';

/** Most bytes that wait for the disk: one second of two thousand calls. */
const MAX_WAITING_BYTES = 33_554_432;
/** Shortest time between two warnings, ms. */
const WARNING_MS = 60_000;
/** How long a piece waits for further pieces of its file, ms. */
const PAUSE_MS = 250;
const SLOW_DISK = 'recordings are lost, because recordings.folder takes them too slowly: choose a faster disk or lower recordings.share';
const FAILED_DISK = 'recordings are lost, because recordings.folder cannot be written: free space there or mend its rights';
const FAILED_THREAD = 'recordings are lost, because what writes them has failed; calls that begin now are recorded again';

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
  readonly writer: RecordingWriter;
}

interface Waiting extends Partial<Pick<Appended, 'isLast' | 'summary'>> {
  readonly bytes: number;
  readonly pieces: readonly PlainPiece[];
}

/** The queue of one recorder. No method throws. */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  #waiting = new Map<WrittenFile, Waiting[]>();
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #hurry: () => void = () => undefined;
  #warnedAtMs = -Infinity;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  /**
   * Adds pieces to the end of a file.
   *
   * @param bytes - size of the pieces, whose memory is the queue's from now on.
   */
  add(file: WrittenFile, bytes: number, pieces: readonly PlainPiece[]): void {
    if (!file.isLost && this.#waitingBytes + bytes > MAX_WAITING_BYTES) this.#lose(file, 'slow_disk', SLOW_DISK);
    if (!file.isLost) this.#wait(file, { bytes, pieces });
  }

  /** Ends a file, also one that is lost. @param summary - undefined: the recording is cut. */
  end(file: WrittenFile, summary?: object): void {
    if (file.isLost && !file.isBegun) return;
    this.#wait(file, { bytes: 0, pieces: [], isLast: true, summary });
  }

  /** Resolves when everything that was waiting is written or lost. */
  async written(): Promise<void> {
    this.#hurry();
    await this.#writing;
  }

  #wait(file: WrittenFile, waiting: Waiting): void {
    const others = this.#waiting.get(file);
    if (others === undefined) this.#waiting.set(file, [waiting]);
    else others.push(waiting);
    this.#waitingBytes += waiting.bytes;
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    try {
      await this.#pause();
      for (let batch = [...this.#waiting]; batch.length > 0; batch = [...this.#waiting]) {
        this.#waiting = new Map();
        const failures = await this.#options.writer.write(batch.map(([file, waiting]) => appendedOf(file, waiting)));
        for (const { bytes } of batch.flatMap(([, waiting]) => waiting)) this.#waitingBytes -= bytes;
        for (const [index, [file]] of batch.entries()) this.#written(file, failures[index]);
      }
    } finally {
      // At the moment of the last look: what comes in between would wait for the next call.
      this.#writing = undefined;
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

  #written(file: WrittenFile, failure: WriteFailure): void {
    // The file was deleted, which says nothing about the disk.
    if (file.isBegun && failure === 'ENOENT') file.isLost = true;
    else if (failure === undefined) file.isBegun = true;
    else if (!file.isLost) this.#lose(file, 'disk', failure.startsWith('ERR_') ? FAILED_THREAD : FAILED_DISK, failure);
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

/** Of a lost file, nothing but its end. */
function appendedOf({ path, isLost, isBegun }: WrittenFile, waiting: readonly Waiting[]): Appended {
  const isLast = isLost || waiting.some((each) => each.isLast === true);
  const summary = waiting.find((each) => each.summary !== undefined)?.summary;
  if (isLost) return { path, pieces: [], isFirst: false, isLast };
  return { path, pieces: waiting.flatMap(({ pieces }) => pieces), isFirst: !isBegun, isLast, summary };
}
