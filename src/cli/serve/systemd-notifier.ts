// Notifies systemd of the server's state (Type=notify), through systemd-notify, because Node cannot send to a Unix datagram socket. A
// blocked event loop sends no signs of life, which systemd's watchdog notices.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Writable } from 'node:stream';
import { environmentValue } from '../../app/config/sources.ts';
import { PLAIN_ENVIRONMENT } from '../../base/child-program.ts';
import { every, type Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Readiness } from '../../ops/readiness.ts';

/** Interval of checks, ms. */
const CHECK_MS = 1000;
/** Extension of the start time that systemd is asked for, ms. Asked for again at half of it, until the server is first ready. */
const PATIENCE_MS = 30_000;
/**
 * Sends each line of its input through systemd-notify, until the input ends. A shell starts systemd-notify, because the fork of a large
 * process stops its event loop for a while.
 */
const RELAY = 'while read -r line; do systemd-notify "$line" || exit 1; done';
/** Pause after a failure, ms, so that a missing program is not started at every check. */
const PAUSE_MS = 5000;
/** Most bytes that may wait for the relay. */
const MAX_WAITING_BYTES = 4096;

interface SystemdNotifierOptions {
  readonly socket: string;
  /** Longest time without a sign of life before systemd ends the process, ms; undefined: no limit. */
  readonly watchdogMs: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

type Source = Pick<Readiness, 'current'>;

/** Notifies until the process ends: of the first readiness, of every change of the state, and with signs of life. */
export class SystemdNotifier {
  readonly #options: SystemdNotifierOptions;
  #readiness: Source = { current: { ready: false, reasons: ['starting'] } };
  #state = '';
  #wasReady = false;
  #isStopping = false;
  #relay: ChildProcessByStdio<Writable, null, null> | undefined;
  #isFailed = false;
  /** When systemd was last asked for more time, and last sent a sign of life, monotonic ms. */
  #patienceAtMs = -Infinity;
  #aliveAtMs = -Infinity;
  /** Earliest next notification after a failure, monotonic ms. */
  #resumesAtMs = -Infinity;

  constructor(options: SystemdNotifierOptions) {
    this.#options = options;
    every(options.clock, CHECK_MS, () => {
      this.#check();
    });
  }

  /** Undefined: systemd waits for no notifications of this process. */
  static find(parts: Pick<SystemdNotifierOptions, 'clock' | 'log'>): SystemdNotifier | undefined {
    const socket = environmentValue('NOTIFY_SOCKET');
    if (socket === undefined) return undefined;
    const isOurs = [undefined, String(process.pid)].includes(environmentValue('WATCHDOG_PID'));
    const watchdogMs = Number(environmentValue('WATCHDOG_USEC')) / 1000;
    return new SystemdNotifier({ ...parts, socket, watchdogMs: isOurs && watchdogMs > 0 ? watchdogMs : undefined });
  }

  /** The server runs. */
  follow(readiness: Source): void {
    this.#readiness = readiness;
    this.#check();
  }

  /** The server begins to stop. */
  stopping(): void {
    this.#isStopping = true;
    this.#notify(['STOPPING=1', 'STATUS=stopping']);
  }

  #check(): void {
    const { watchdogMs = Infinity, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#resumesAtMs) return;
    const { ready, reasons } = this.#readiness.current;
    const state = ready ? 'ready' : `not ready: ${reasons.join(', ')}`;
    const lines = state === this.#state || this.#isStopping ? [] : [`STATUS=${state}`];
    this.#state = state;
    if (ready && !this.#wasReady) lines.push('READY=1');
    this.#wasReady ||= ready;
    if (!this.#wasReady && !this.#isStopping && nowMs - this.#patienceAtMs >= PATIENCE_MS / 2) {
      lines.push(`EXTEND_TIMEOUT_USEC=${String(PATIENCE_MS * 1000)}`);
      this.#patienceAtMs = nowMs;
    }
    // Twice as often as systemd recommends, because a notification may fail. One check early, because a check may be late.
    if (nowMs - this.#aliveAtMs + CHECK_MS > watchdogMs / 4) {
      lines.push('WATCHDOG=1');
      this.#aliveAtMs = nowMs;
    }
    if (lines.length > 0) this.#notify(lines);
  }

  #notify(lines: readonly string[]): void {
    this.#relay ??= this.#start();
    const { stdin } = this.#relay;
    if (stdin.writableLength <= MAX_WAITING_BYTES) stdin.write(lines.map((line) => `${line}\n`).join(''));
  }

  #start(): ChildProcessByStdio<Writable, null, null> {
    const { socket, clock, log } = this.#options;
    const env = { ...PLAIN_ENVIRONMENT, NOTIFY_SOCKET: socket };
    const relay = spawn('/bin/sh', ['-c', RELAY], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    // The relay must not keep the process alive.
    relay.unref();
    const failed = (): void => {
      if (this.#relay !== relay) return;
      this.#relay = undefined;
      // Any of the last lines may be lost, so all are sent again.
      [this.#state, this.#wasReady, this.#patienceAtMs, this.#aliveAtMs] = ['', false, -Infinity, -Infinity];
      this.#resumesAtMs = clock.monotonicMs() + PAUSE_MS;
      if (!this.#isFailed) log.error({ event: 'notify_failed' }, 'systemd-notify fails: systemd does not hear from this server');
      this.#isFailed = true;
    };
    relay.once('exit', failed);
    relay.once('error', failed);
    // A relay that has ended breaks its pipe, too; `exit` reports that.
    relay.stdin.on('error', () => undefined);
    return relay;
  }
}
