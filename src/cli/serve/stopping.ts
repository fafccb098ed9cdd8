// Stops a server, also during its start, and logs the stop. Does not know whether a signal or another process asks for it.
import { linkAbort } from '../../base/abort.ts';
import { holdProcess } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { LogFields, Logger } from '../../base/log.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { catchStrayFailures } from '../stray-failures.ts';

export interface Running {
  /** Undefined: other processes have the open calls, and report them. */
  readonly openSessions?: () => number;
  readonly openTurns?: () => number;
  /** Never throws. */
  close(): Promise<void>;
}

/** Stops a server once, whether it is starting or running. */
export class Stopping {
  readonly #log: Logger;
  readonly #leave: () => void;
  readonly #onStop: () => void;
  readonly #starting = linkAbort();
  #running: Running | undefined;
  #isStopping = false;

  /**
   * @param options.leave - ends the process soon, even when something keeps a timer or a socket open.
   * @param options.onStop - called once when the stop begins.
   */
  constructor({
    log,
    leave,
    onStop = () => undefined,
  }: {
    readonly log: Logger;
    readonly leave: () => void;
    readonly onStop?: () => void;
  }) {
    this.#log = log;
    this.#onStop = onStop;
    // A start may wait for nothing but a timer that does not keep the process alive.
    const release = holdProcess();
    this.#leave = () => {
      release();
      leave();
    };
    process.once('exit', (code) => {
      this.#onExit(code);
    });
  }

  /** Aborts to give up the start. */
  get signal(): AbortSignal {
    return this.#starting.signal;
  }

  /** Whether stopping has begun. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Begins to stop, unless it has begun. @param why - for the log. */
  stop(why: LogFields): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#onStop();
    if (this.#running !== undefined) this.#close(this.#running, why);
    else {
      this.#log.info(why, 'stopping: the start is given up');
      this.#starting.abort('shutdown');
    }
  }

  /** Notes that the server runs. @returns false when it is closed at once, because the stop was asked for during the start. */
  started(running: Running): boolean {
    this.#running = running;
    if (this.#isStopping) this.#close(running, {});
    // The supervisor restarts the process after running calls are finished.
    catchStrayFailures(this.#log, () => {
      process.exitCode = EXIT.failed;
      this.stop({});
    });
    return !this.#isStopping;
  }

  /**
   * Ends a start that has failed.
   * @returns when the stop was asked for, which is no error.
   * @throws the error otherwise.
   */
  failed(thrown: unknown): void {
    this.#leave();
    if (!this.#starting.isAborted || !(thrown instanceof AppError) || thrown.code !== 'shutting_down') throw thrown;
    this.#log.info({}, 'stopped');
  }

  /** Makes the exit code other than 0 if a library or bot ends the process, for example with `process.exit`, without a stop. */
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
 * The handlers stay installed: a library that writes files listens to signals, too, and raises a signal again when it has the last
 * listener.
 */
export function onSignals(stopping: Stopping): void {
  const onSignal = (signal: NodeJS.Signals): void => {
    // A second signal means that somebody does not want to wait.
    if (stopping.isStopping) process.exit(EXIT.interrupted);
    stopping.stop({ signal });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
