// A catalogue that reloads changed bot modules while the server runs: it loads all of them again, and only when every one is valid
// it replaces the catalogue, in one step. Running calls keep the bot object they began with.
import type { Clock } from '../base/clock.ts';
import { toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Checked } from '../base/watched-files.ts';
import type { Bot } from './bot.ts';
import type { Catalog, CatalogSource } from './catalog.ts';
import { FolderWatch } from './folder-watch.ts';
import { loadBots } from './loader.ts';
import { nextGeneration } from './module-reload.ts';

/** Most reloads of a process: every one leaves the old modules in memory. */
const MAX_RELOADS = 1000;

/** The options of a watched catalogue. */
export interface WatchedCatalogOptions {
  /** Absolute folder of the modules. */
  readonly folder: string;
  /** What was loaded from it when the server started. */
  readonly first: Catalog;
  /** Creates a catalogue of bots. @throws AppError when the settings do not fit them. */
  readonly open: (bots: readonly Bot[]) => Catalog;
  /** Called after each attempt; the catalogue is undefined when the modules are invalid and the previous one stays. */
  readonly onReload?: (catalog: Catalog | undefined) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Follows a folder of bot modules. Call `close`. */
export class WatchedCatalog implements CatalogSource {
  readonly #options: WatchedCatalogOptions;
  #current: Catalog;
  #watch: FolderWatch | undefined;
  #reloads = 0;
  /** Why the newest modules are not used; undefined: they are. */
  #refusal: string | undefined;
  #isClosed = false;

  private constructor(options: WatchedCatalogOptions) {
    this.#options = options;
    this.#current = options.first;
  }

  /** Starts watching. */
  static async start(options: WatchedCatalogOptions): Promise<WatchedCatalog> {
    const { folder, clock, log } = options;
    const watched = new WatchedCatalog(options);
    watched.#watch = await FolderWatch.start({ folder, clock, log, onChange: () => watched.#reload() });
    return watched;
  }

  /** The newest valid catalogue. */
  get current(): Catalog {
    return this.#current;
  }

  /** Checks for changes at once. Resolves when they are loaded. */
  async checkNow(): Promise<Checked> {
    const before = this.#current;
    await this.#watch?.checkNow();
    if (this.#refusal !== undefined) return { verdict: 'refused', why: this.#refusal };
    return { verdict: this.#current === before ? 'unchanged' : 'taken' };
  }

  /** Stops watching. Waits for a running reload, whose result is discarded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#watch?.close();
  }

  /** Runs once per state of the folder, so a broken module is reported once. */
  async #reload(): Promise<void> {
    const { folder, open, onReload, clock, log } = this.#options;
    if (this.#reloads >= MAX_RELOADS) {
      log.error({ reloads: this.#reloads }, 'the bots were loaded again too often for one process; restart it to load the latest change');
      return;
    }
    this.#reloads += 1;
    try {
      const catalog = open(await loadBots(folder, { urlOf: nextGeneration(folder), clock }));
      if (this.#isClosed) return;
      this.#current = catalog;
      this.#refusal = undefined;
      log.info({ bots: catalog.bots.map(({ id }) => id), reloads: this.#reloads }, 'the bots were loaded again; running calls keep theirs');
      onReload?.(catalog);
    } catch (thrown) {
      if (this.#isClosed) return;
      const error = toAppError(thrown, 'internal', 'the bots could not be loaded again');
      this.#refusal = error.message;
      // The author who has just saved a file reads the reason here, so it is in the message itself.
      log.error(
        error.code === 'internal' ? { err: error } : { code: error.code },
        `the changed bots are not used, the ones from before go on: ${error.message}`,
      );
      onReload?.(undefined);
    }
  }
}
