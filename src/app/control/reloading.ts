// Reloads files that may change while the server runs, on SIGHUP or a command. Never ends a call; a refused file leaves the previous state.
// The owners of the files interpret them.
import { waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import type { LogLevel, Logger } from '../../base/log.ts';
import type { Checked } from '../../base/watched-files.ts';
import { changedSettings } from '../config/describe-settings.ts';
import type { LoadedSettings } from '../config/load-settings.ts';

/** Longest wait for files to be read, ms. */
export const RELOAD_LIMIT_MS = 10_000;

export interface ReloadingOptions {
  /** The effective settings. */
  readonly loaded: LoadedSettings;
  /** Reads the configuration again. @throws AppError `config_invalid`. */
  readonly load: () => LoadedSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly setLevel: (level: LogLevel) => void;
}

/** The result of reading one kind of file again. */
export interface FileVerdict extends Checked {
  readonly what: string;
}

/** The result of a reload. */
export interface Reloaded {
  readonly taken: readonly string[];
  readonly unchanged: readonly string[];
  /** Unchanged because it was refused, with the reason. */
  readonly refused: readonly { readonly what: string; readonly why: string }[];
  /** Other settings that have changed since the start, and need a restart. */
  readonly needRestart: readonly string[];
}

/** Runs the reloads of one process, one after another. */
export class Reloading {
  readonly #options: ReloadingOptions;
  #level: LogLevel;
  #running: Promise<unknown> = Promise.resolve();
  #waiting: Promise<Reloaded> | undefined;

  constructor(options: ReloadingOptions) {
    this.#options = options;
    this.#level = options.loaded.settings.log.level;
  }

  /** Reloads. Requests meanwhile share one further reload. Never rejects. @param checkNow - reads the files again. Must not reject. */
  reload(checkNow: () => Promise<readonly FileVerdict[]>): Promise<Reloaded> {
    return (this.#waiting ??= this.#afterRunning(checkNow));
  }

  async #afterRunning(checkNow: () => Promise<readonly FileVerdict[]>): Promise<Reloaded> {
    await this.#running;
    this.#waiting = undefined;
    const running = this.#reload(checkNow);
    this.#running = running;
    return running;
  }

  async #reload(checkNow: () => Promise<readonly FileVerdict[]>): Promise<Reloaded> {
    const { clock, log } = this.#options;
    const { verdict, needRestart } = this.#readSettings();
    const read = await waitAtMost(checkNow(), RELOAD_LIMIT_MS, clock);
    const late = { what: 'files', verdict: 'refused', why: `they did not answer within ${String(RELOAD_LIMIT_MS)} ms` } as const;
    if (read.kind !== 'value')
      log.error({ event: 'reload_refused', limitMs: RELOAD_LIMIT_MS }, 'the files that are read anew did not answer in time');
    const verdicts = [...(read.kind === 'value' ? read.value : [late]), verdict];
    const named = (wanted: FileVerdict['verdict']): readonly string[] =>
      verdicts.filter((each) => each.verdict === wanted).map(({ what }) => what);
    const fields = { event: 'reloaded', taken: named('taken'), unchanged: named('unchanged'), refused: named('refused'), needRestart };
    if (fields.refused.length > 0) log.warn(fields, 'reloaded, except what is refused; calls go on');
    else if (needRestart.length > 0) log.warn(fields, 'reloaded, except settings that need a restart; calls go on');
    else log.info(fields, 'reloaded; calls go on');
    const refused = verdicts.flatMap(({ what, verdict, why = 'the log says why' }) => (verdict === 'refused' ? { what, why } : []));
    return { taken: fields.taken, unchanged: fields.unchanged, refused, needRestart };
  }

  /** Applies the log level, and lists other changed settings without applying them. */
  #readSettings(): { readonly verdict: FileVerdict; readonly needRestart: readonly string[] } {
    const { loaded, load, log, setLevel } = this.#options;
    const what = 'log.level';
    try {
      const next = load();
      const { level } = next.settings.log;
      const verdict = level === this.#level ? 'unchanged' : 'taken';
      this.#level = level;
      setLevel(level);
      return { verdict: { what, verdict }, needRestart: changedSettings(loaded, next).filter((key) => key !== what) };
    } catch (thrown) {
      const error = toAppError(thrown);
      log.error({ event: 'reload_refused', err: error }, `the configuration is not used, what was there before goes on: ${error.message}`);
      return { verdict: { what, verdict: 'refused', why: error.message }, needRestart: [] };
    }
  }
}
