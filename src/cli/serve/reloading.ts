// Reloads files that may change while the server runs, on SIGHUP or a message of the primary. Never ends a call: what is refused stays
// as it was. The owners of the files interpret them.
import { waitAtMost } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import type { LogLevel, Logger } from '../../base/log.ts';
import type { FileVerdict } from '../../app/app.ts';
import type { LoadedSettings } from '../../app/config/load-settings.ts';
import { changedSettings } from '../../app/config/describe-settings.ts';

/** Longest wait for files that do not respond, ms. */
const LIMIT_MS = 10_000;

export interface ReloadingOptions {
  /** The effective settings. */
  readonly loaded: LoadedSettings;
  /** Reads the configuration again. @throws AppError `config_invalid`. */
  readonly load: () => LoadedSettings;
  readonly log: Logger;
  readonly setLevel: (level: LogLevel) => void;
}

/** Runs the reloads of one process, one after another. */
export class Reloading {
  readonly #options: ReloadingOptions;
  #level: LogLevel;
  #checkNow: (() => Promise<readonly FileVerdict[]>) | undefined;
  #isAsked = false;
  #isRunning = false;

  constructor(options: ReloadingOptions) {
    this.#options = options;
    this.#level = options.loaded.settings.log.level;
  }

  /** Reloads now, or after the start. A request during a reload leads to one more. */
  ask(): void {
    this.#isAsked = true;
    if (this.#checkNow === undefined) this.#options.log.info({}, 'asked to reload during the start: it is done as soon as the server runs');
    else void this.#run(this.#checkNow);
  }

  /** The server runs now. @param checkNow - reads its files again. Must not reject. */
  started(checkNow: () => Promise<readonly FileVerdict[]>): void {
    this.#checkNow = checkNow;
    if (this.#isAsked) void this.#run(checkNow);
  }

  async #run(checkNow: () => Promise<readonly FileVerdict[]>): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isAsked) {
      this.#isAsked = false;
      const settings = this.#readSettings();
      const read = await waitAtMost(checkNow(), LIMIT_MS, systemClock);
      if (read.kind === 'value') this.#report([...read.value, ...settings.verdicts], settings.needRestart);
      else this.#options.log.error({ event: 'reload_refused', limitMs: LIMIT_MS }, 'the files that are read anew did not answer in time');
    }
    this.#isRunning = false;
  }

  /** Applies only the log level; logs the names of other changed settings. */
  #readSettings(): { readonly verdicts: readonly FileVerdict[]; readonly needRestart: readonly string[] } {
    const { loaded, load, log, setLevel } = this.#options;
    try {
      const next = load();
      const { level } = next.settings.log;
      const verdict = level === this.#level ? 'unchanged' : 'taken';
      this.#level = level;
      setLevel(level);
      return {
        verdicts: [{ what: 'log.level', verdict }],
        needRestart: changedSettings(loaded, next).filter((key) => key !== 'log.level'),
      };
    } catch (thrown) {
      const error = toAppError(thrown);
      log.error({ event: 'reload_refused', err: error }, `the configuration is not used, what was there before goes on: ${error.message}`);
      return { verdicts: [{ what: 'log.level', verdict: 'refused' }], needRestart: [] };
    }
  }

  #report(verdicts: readonly FileVerdict[], needRestart: readonly string[]): void {
    const named = (wanted: FileVerdict['verdict']): readonly string[] =>
      verdicts.filter(({ verdict }) => verdict === wanted).map(({ what }) => what);
    const fields = { event: 'reloaded', taken: named('taken'), unchanged: named('unchanged'), refused: named('refused'), needRestart };
    const { log } = this.#options;
    if (fields.refused.length > 0) log.warn(fields, 'reloaded, except what is refused; calls go on');
    else if (needRestart.length > 0) log.warn(fields, 'reloaded, except settings that need a restart; calls go on');
    else log.info(fields, 'reloaded; calls go on');
  }
}
