// Notices when the modules of a folder have changed and then stayed unchanged for a while. Does not read them.
import { watch, type FSWatcher } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { isNoModuleFolder } from './loader.ts';

/** Editors and version control write in bursts: wait until nothing has changed for so long, ms. */
const QUIET_MS = 150;
/** But no longer than this after the first change, ms. */
const MAX_WAIT_MS = 2000;
/** Most folders and files to scan; changes in further ones are missed. */
const MAX_FOLDERS = 200;
const MAX_FILES = 2000;
const MODULE_FILE = /\.(?:[cm]?[jt]s|json)$/u;

export interface FolderWatchOptions {
  /** Absolute. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after modules were added, changed or removed, and never again before its promise has settled. Must not reject. */
  readonly onChange: () => Promise<void>;
}

/** Watches a folder and its sub-folders, except recordings and packages. Call `close`. */
export class FolderWatch {
  readonly #options: FolderWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  #known = '';
  #cancelTimer: CancelTimer | undefined;
  #firstChangeMs: number | undefined;
  #checking: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** Starts watching; the current content counts as known. */
  static async start(options: FolderWatchOptions): Promise<FolderWatch> {
    const opened = new FolderWatch(options);
    opened.#known = await opened.#scan();
    return opened;
  }

  /** Stops watching, and waits for a running notification. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    await this.#checking;
  }

  /** Checks at once. Resolves when the listener was notified of a change, or when there is none. */
  async checkNow(): Promise<void> {
    this.#checking = this.#checking.then(() => this.#notify());
    await this.#checking;
  }

  #touched(): void {
    if (this.#isClosed) return;
    const nowMs = this.#options.clock.monotonicMs();
    this.#firstChangeMs ??= nowMs;
    const restMs = this.#firstChangeMs + MAX_WAIT_MS - nowMs;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.after(Math.max(0, Math.min(QUIET_MS, restMs)), () => {
      this.#firstChangeMs = undefined;
      this.#checking = this.#checking.then(() => this.#notify());
    });
  }

  async #notify(): Promise<void> {
    if (this.#isClosed) return;
    const found = await this.#scan();
    // Recordings, notes and temporary files of editors change nothing.
    if (found === this.#known) return;
    this.#known = found;
    await this.#options.onChange();
  }

  /** Scans the folders and watches new ones. @returns names, sizes and times of the modules. */
  async #scan(): Promise<string> {
    const folders = [this.#options.folder];
    const files: string[] = [];
    // The list grows during the loop.
    for (const folder of folders) {
      // Watch first, read then: a change in between is noticed by one of the two.
      this.#watch(folder);
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const full = path.join(folder, entry.name);
        if (entry.isDirectory() && !isNoModuleFolder(entry.name) && folders.length < MAX_FOLDERS) folders.push(full);
        if (!entry.isDirectory() && MODULE_FILE.test(entry.name) && files.length < MAX_FILES) files.push(full);
      }
    }
    for (const [folder, watcher] of this.#watchers) {
      if (folders.includes(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    const states = await Promise.all(files.sort().map(stateOf));
    return states.join('\n');
  }

  #watch(folder: string): void {
    if (this.#isClosed || this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        this.#touched();
      });
      watcher.on('error', (error) => {
        this.#gaveUp(folder, error);
      });
      this.#watchers.set(folder, watcher);
    } catch (error) {
      this.#gaveUp(folder, error);
    }
  }

  #gaveUp(folder: string, error: unknown): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
    this.#options.log.warn({ folder, err: error }, 'this folder cannot be watched; restart to load changed bots');
  }
}

async function stateOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  return `${file} ${found === undefined ? 'gone' : [found.ino, found.size, found.mtimeMs].join(' ')}`;
}
