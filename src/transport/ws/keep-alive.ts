// Protocol pings (W-42): detects that the other side of a quiet socket is gone. One timer for all sockets, none
// without sockets.
import { every, type CancelTimer, type Clock } from '../../base/clock.ts';

export interface PingedSocket {
  readonly readyState: number;
  readonly OPEN: number;
  readonly isPaused: boolean;
  ping(data: undefined, isMasked: boolean, onSent: () => void): void;
  terminate(): void;
  on(event: 'pong', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Times in ms. */
export interface KeepAliveOptions {
  /** Pause between two pings on one socket. */
  readonly pingIntervalMs: number;
  /** Longest wait for a pong. */
  readonly pongTimeoutMs: number;
  readonly clock: Clock;
}

/** Number of checks within the shorter of the two times. */
const CHECKS_PER_PERIOD = 4;
/** Shortest pause between two checks, ms. */
const MIN_CHECK_MS = 20;

/** A socket that is watched. */
interface Watched {
  readonly onSilent: () => void;
  /** When the last ping was sent or the socket was added; monotonic ms. */
  sinceMs: number;
  isPinged: boolean;
  /** Whether the pong was missing at the last check. */
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
   * @param onSilent - called after the socket was terminated because no pong came.
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
      // A paused socket cannot receive its pong, and a socket that is closing has a time limit of its own.
      if (socket.isPaused || socket.readyState !== socket.OPEN) {
        watched.sinceMs = nowMs;
      } else if (!watched.isPinged) {
        if (nowMs - watched.sinceMs >= pingIntervalMs) this.#ping(socket, watched, nowMs);
      } else if (nowMs - watched.sinceMs >= pongTimeoutMs) {
        // Only the second late check counts: after a stall of the process, timers run before the pending pong is read.
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
    // A socket on which the ping fails emits `close`.
    socket.ping(undefined, false, () => undefined);
  }

  #stopChecking(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = undefined;
  }
}
