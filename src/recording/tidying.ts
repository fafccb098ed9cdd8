// Keeps the folder of recordings within its limits, also after recording was switched off.
import { every, type CancelTimer, type Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Keeping, RecordingFolder } from './recording-folder.ts';

/** Time between two checks of the folder, ms. */
const TIDY_MS = 60_000;

interface TidyingOptions {
  readonly folder: RecordingFolder;
  readonly keeping: Keeping;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ids of the recordings that this process is writing; default: none. */
  readonly open?: () => readonly string[];
}

/** Starts checking at once. The creator closes it. */
export class Tidying {
  readonly #options: TidyingOptions;
  readonly #cancel: CancelTimer;
  #running: Promise<void> | undefined;

  constructor(options: TidyingOptions) {
    this.#options = options;
    this.#cancel = every(options.clock, TIDY_MS, () => {
      this.#tidy();
    });
    this.#tidy();
  }

  /** Stops, and resolves when no deletion is running. Never rejects. */
  async close(): Promise<void> {
    this.#cancel();
    await this.#running;
  }

  #tidy(): void {
    const { folder, keeping, clock, log, open } = this.#options;
    this.#running ??= folder
      .tidy(keeping, clock.nowMs(), open)
      .catch((err: unknown) => {
        log.warn({ event: 'recordings_not_tidied', err }, 'old recordings could not be deleted: mend the rights of recordings.folder');
      })
      .finally(() => {
        this.#running = undefined;
      });
  }
}
