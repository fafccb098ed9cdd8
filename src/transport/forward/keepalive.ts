// Pings a connection that carries streams: when the network loses every packet, a forwarded turn would otherwise wait
// for ever. Knows no streams.
import type { ClientHttp2Session } from 'node:http2';
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Time between two pings, ms. */
const PING_MS = 1000;
/**
 * The peer is gone after this many pings in a row without an answer. A stalled process sends no pings, so its own stall
 * does not count.
 */
const MAX_UNANSWERED = 3;

export interface KeepaliveOptions {
  readonly clock: Clock;
  readonly isNeeded: () => boolean;
  /** Called once, after three seconds without an answer. */
  readonly onSilent: () => void;
}

/** One per connection; ends with it. While there are no streams, it sends nothing and has no timer. */
export class Keepalive {
  readonly #session: ClientHttp2Session;
  readonly #options: KeepaliveOptions;
  #unanswered = 0;
  #cancelTimer: CancelTimer | undefined;

  constructor(session: ClientHttp2Session, options: KeepaliveOptions) {
    this.#session = session;
    this.#options = options;
    session.once('close', () => this.#cancelTimer?.());
  }

  /** Starts when there are streams: pings at once, unless the last ping is less than a second old. */
  start(): void {
    if (this.#cancelTimer === undefined) this.#ask();
  }

  readonly #ask = (): void => {
    this.#cancelTimer = undefined;
    const { clock, isNeeded, onSilent } = this.#options;
    if (this.#session.destroyed || (this.#unanswered === 0 && !isNeeded())) return;
    if (this.#unanswered >= MAX_UNANSWERED) {
      onSilent();
      return;
    }
    this.#unanswered += 1;
    this.#session.ping((error) => {
      if (error === null) this.#unanswered = 0;
    });
    this.#cancelTimer = clock.after(PING_MS, this.#ask);
  };
}
