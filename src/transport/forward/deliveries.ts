// Whether the replies to forwarded turns reached the platform. The forwarding process reports each delivery. When it is killed,
// replies may be lost that its connection had accepted up to 80 ms before, or half a second on a busy machine.
import type { TLSSocket } from 'node:tls';
import type { CancelTimer, Clock } from '../../base/clock.ts';

/**
 * Without a report for this long on an open connection, ms, the reply counts as delivered, because the peer may be an older
 * version. Longer than a busy process takes to see that a connection is gone.
 */
const ANSWER_LIMIT_MS = 5000;

interface Waiting {
  readonly socket: TLSSocket;
  readonly cancelTimer: CancelTimer;
  readonly resolve: (isDelivered: boolean) => void;
}

/** One per peer port. */
export class Deliveries {
  readonly #clock: Clock;
  /** Replies without a report yet, by turn id. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with false when the connection is lost before the peer reports the delivery. Never rejects. */
  wait(turnId: string, socket: TLSSocket | undefined): Promise<boolean> {
    if (socket === undefined || socket.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const cancelTimer = this.#clock.after(ANSWER_LIMIT_MS, () => {
        this.#settle(turnId, true);
      });
      this.#waiting.set(turnId, { socket, cancelTimer, resolve });
    });
  }

  /** The peer reports a delivery. */
  delivered(turnId: string): void {
    this.#settle(turnId, true);
  }

  /** A connection is lost. */
  cut(socket: TLSSocket): void {
    for (const [turnId, waiting] of this.#waiting) if (waiting.socket === socket) this.#settle(turnId, false);
  }

  #settle(turnId: string, isDelivered: boolean): void {
    const waiting = this.#waiting.get(turnId);
    this.#waiting.delete(turnId);
    waiting?.cancelTimer();
    waiting?.resolve(isDelivered);
  }
}
