// Whether replies to forwarded turns have reached the platform. Only the process that forwards a turn knows, and it says so; one that is
// killed takes with it what it had not passed on, while its connections still take what is written for some 80 ms.
import type { TLSSocket } from 'node:tls';
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Who says nothing so long and keeps the connection is an older server, or lost the question, ms: the reply counts as delivered. */
const ANSWER_LIMIT_MS = 1000;

interface Waiting {
  readonly socket: TLSSocket;
  readonly cancelTimer: CancelTimer;
  readonly resolve: (isDelivered: boolean) => void;
}

/** Of one peer port. */
export class Deliveries {
  readonly #clock: Clock;
  /** By the id of the turn. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with false when the connection is gone before the peer has said that it passed the reply on. Never rejects. */
  wait(turnId: string, socket: TLSSocket | undefined): Promise<boolean> {
    if (socket === undefined || socket.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const cancelTimer = this.#clock.after(ANSWER_LIMIT_MS, () => {
        this.#settle(turnId, true);
      });
      this.#waiting.set(turnId, { socket, cancelTimer, resolve });
    });
  }

  /** The peer has passed a reply on. */
  delivered(turnId: string): void {
    this.#settle(turnId, true);
  }

  /** A connection is gone. */
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
