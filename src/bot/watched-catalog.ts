// The catalogue of a server that takes up changed bot modules while it runs: all of them are loaded again, and only when
// every one is good the catalogue is replaced, in one step. Calls that run keep the bot object they began with.
import type { Clock } from '../base/clock.ts';
import { toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Verdict } from '../base/watched-files.ts';
import type { Bot } from './bot.ts';
import type { Catalog, CatalogSource } from './catalog.ts';
import { FolderWatch } from './folder-watch.ts';
import { loadBots } from './loader.ts';
import { nextGeneration } from './module-reload.ts';

/** Reloads in the life of a process: every one leaves the modules before it in memory. */
const MAX_RELOADS = 1000;

/** What a watched catalogue is made of. */
export interface WatchedCatalogOptions {
  /** Absolute folder of the modules. */
  readonly folder: string;
  /** What was loaded from it when the server started. */
  readonly first: Catalog;
  /** Makes a catalogue of bots. @throws AppError when the settings do not fit them. */
  readonly open: (bots: readonly Bot[]) => Catalog;
  /** Called after each attempt; the catalogue is undefined when the modules cannot be used and the one before stays. */
  readonly onReload?: (catalog: Catalog | undefined) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Follows a folder of bot modules. Open until `close`. */
export class WatchedCatalog implements CatalogSource {
  readonly #options: WatchedCatalogOptions;
  #current: Catalog;
  #watch: FolderWatch | undefined;
  #reloads = 0;
  #isRefused = false;
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

  /** The newest catalogue that is good. */
  get current(): Catalog {
    return this.#current;
  }

  /** Looks for changes at once. Resolves when what was found is loaded. */
  async checkNow(): Promise<Verdict> {
    const before = this.#current;
    await this.#watch?.checkNow();
    if (this.#isRefused) return 'refused';
    return this.#current === before ? 'unchanged' : 'taken';
  }

  /** Stops watching; a reload that is under way is waited for and changes nothing any more. */
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
      this.#isRefused = false;
      log.info({ bots: catalog.bots.map(({ id }) => id), reloads: this.#reloads }, 'the bots were loaded again; running calls keep theirs');
      onReload?.(catalog);
    } catch (thrown) {
      if (this.#isClosed) return;
      this.#isRefused = true;
      const error = toAppError(thrown, 'internal', 'the bots could not be loaded again');
      // Whoever has just saved a file looks for the reason here, so it stands in the message itself.
      log.error(
        error.code === 'internal' ? { err: error } : { code: error.code },
        `the changed bots are not used, the ones from before go on: ${error.message}`,
      );
      onReload?.(undefined);
    }
  }
}
