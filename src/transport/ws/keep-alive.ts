// Protocol pings (W-42): finds out that the other side of a quiet socket is gone. One timer for all sockets, and none while
// there is no socket.
import { every, type CancelTimer, type Clock } from '../../base/clock.ts';

/** What is needed of a socket of the library. */
export interface PingedSocket {
  readonly readyState: number;
  readonly OPEN: number;
  readonly isPaused: boolean;
  ping(data: undefined, isMasked: boolean, onSent: () => void): void;
  terminate(): void;
  on(event: 'pong', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** How often, and how patiently; ms. */
export interface KeepAliveOptions {
  /** Pause between two pings on one socket. */
  readonly pingIntervalMs: number;
  /** Longest wait for a pong. */
  readonly pongTimeoutMs: number;
  readonly clock: Clock;
}

/** Checks within the shorter of the two times; what is due is noticed that much too late at most. */
const CHECKS_PER_PERIOD = 4;
/** Shortest pause between two checks, ms. */
const MIN_CHECK_MS = 20;

/** A socket that is watched. */
interface Watched {
  readonly onSilent: () => void;
  /** When the last ping was sent, or the socket came; monotonic ms. */
  sinceMs: number;
  isPinged: boolean;
  /** The pong was missing at the last check. */
  isLate: boolean;
}

/** Watches sockets. */
export class KeepAlive {
  readonly #options: KeepAliveOptions;
  readonly #checkMs: number;
  readonly #watched = new Map<PingedSocket, Watched>();
  #cancelCheck: CancelTimer | undefined;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
    this.#checkMs = Math.max(MIN_CHECK_MS, Math.min(options.pingIntervalMs, options.pongTimeoutMs) / CHECKS_PER_PERIOD);
  }

  /**
   * Watches a socket until it is closed.
   *
   * @param onSilent - called when it did not answer and was terminated: nothing can be said on it any more.
   */
  watch(socket: PingedSocket, onSilent: () => void): void {
    const { clock } = this.#options;
    const watched: Watched = { onSilent, sinceMs: clock.monotonicMs(), isPinged: false, isLate: false };
    this.#watched.set(socket, watched);
    socket.on('pong', () => {
      watched.isPinged = false;
      watched.isLate = false;
    });
    socket.once('close', () => {
      this.#watched.delete(socket);
      if (this.#watched.size === 0) this.#stopChecking();
    });
    this.#cancelCheck ??= every(clock, this.#checkMs, () => {
      this.#check();
    });
  }

  #check(): void {
    const { clock, pingIntervalMs, pongTimeoutMs } = this.#options;
    const nowMs = clock.monotonicMs();
    for (const [socket, watched] of this.#watched) {
      // A socket that we do not read from cannot show its pong, and one that is closing has its own limit.
      if (socket.isPaused || socket.readyState !== socket.OPEN) {
        watched.sinceMs = nowMs;
      } else if (!watched.isPinged) {
        if (nowMs - watched.sinceMs >= pingIntervalMs) this.#ping(socket, watched, nowMs);
      } else if (nowMs - watched.sinceMs >= pongTimeoutMs) {
        // Late twice, because after a stall of the process timers run before what was received meanwhile is read.
        if (watched.isLate) {
          socket.terminate();
          watched.onSilent();
        }
        watched.isLate = true;
      }
    }
  }

  #ping(socket: PingedSocket, watched: Watched, nowMs: number): void {
    watched.sinceMs = nowMs;
    watched.isPinged = true;
    // A socket that broke in this moment says so through its close.
    socket.ping(undefined, false, () => undefined);
  }

  #stopChecking(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = undefined;
  }
}
