// What stops a server, from the first moment on, and what is said and done then. Who asks for it, signals or another process,
// is decided by whoever makes it.
import { linkAbort } from '../../base/abort.ts';
import { holdProcess } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { LogFields, Logger } from '../../base/log.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { catchStrayFailures } from '../stray-failures.ts';

export interface Running {
  /** Absent: other processes have them, and say so themselves. */
  readonly openSessions?: () => number;
  readonly openTurns?: () => number;
  /** Never throws. */
  close(): Promise<void>;
}

/** Stops a server once, whether it is starting or running. */
export class Stopping {
  readonly #log: Logger;
  readonly #leave: () => void;
  readonly #starting = linkAbort();
  #running: Running | undefined;
  #isStopping = false;

  /** @param options.leave - ends the process soon, whatever may still keep it busy. */
  constructor({ log, leave }: { readonly log: Logger; readonly leave: () => void }) {
    this.#log = log;
    // What is waited for during a start may have nothing but a timer, which does not keep the process alive.
    const release = holdProcess();
    this.#leave = () => {
      release();
      leave();
    };
    process.once('exit', (code) => {
      this.#onExit(code);
    });
  }

  /** Aborts when the start is to be given up. */
  get signal(): AbortSignal {
    return this.#starting.signal;
  }

  /** It has begun. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Begins, unless it has begun. @param why - for the log. */
  stop(why: LogFields): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    if (this.#running !== undefined) this.#close(this.#running, why);
    else {
      this.#log.info(why, 'stopping: the start is given up');
      this.#starting.abort('shutdown');
    }
  }

  /** From now on a server is there to be closed. @returns false when it is closed at once, because it was to be stopped before. */
  started(running: Running): boolean {
    this.#running = running;
    if (this.#isStopping) this.#close(running, {});
    // Who watches the process starts it anew; calls that are running are finished before.
    catchStrayFailures(this.#log, () => {
      process.exitCode = EXIT.failed;
      this.stop({});
    });
    return !this.#isStopping;
  }

  /**
   * The start has failed.
   *
   * @returns when it was given up because somebody asked for it, who gets no error.
   * @throws what it failed with otherwise.
   */
  failed(thrown: unknown): void {
    this.#leave();
    if (!this.#starting.isAborted || !(thrown instanceof AppError) || thrown.code !== 'shutting_down') throw thrown;
    this.#log.info({}, 'stopped');
  }

  /** Whatever ends the process, a library or a bot that exits by itself among it: without having been asked to, it never ends well. */
  #onExit(code: number): void {
    if (code !== EXIT.ok || this.#isStopping) return;
    process.exitCode = EXIT.failed;
    this.#log.error({ event: 'ended_early' }, 'the process ends although nobody has asked the server to stop');
  }

  #close(running: Running, why: LogFields): void {
    const open = { openSessions: running.openSessions?.(), openTurns: running.openTurns?.() };
    this.#log.info({ ...why, ...open }, 'stopping: new calls are refused, open turns are finished');
    void running.close().then(() => {
      this.#log.info({}, 'stopped');
      this.#leave();
    });
  }
}

/**
 * Stops on SIGTERM and SIGINT; the second signal ends the process at once.
 *
 * The handlers stay: a library that writes files listens to signals, too, and sends them on when it is the last one.
 */
export function onSignals(stopping: Stopping): void {
  const onSignal = (signal: NodeJS.Signals): void => {
    // The second signal is from somebody who does not want to wait.
    if (stopping.isStopping) process.exit(EXIT.interrupted);
    stopping.stop({ signal });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
