// Asks a connection that carries streams whether its other side is still there: a network that loses every packet says nothing, and a
// forwarded turn would wait for ever. Knows no streams.
import type { ClientHttp2Session } from 'node:http2';
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Time between two questions, ms. */
const ASK_MS = 1000;
/** So many questions in a row without an answer: nobody is there. A process that stood still itself has asked no more than it could. */
const MAX_UNANSWERED = 3;

/** What one is made with. */
export interface KeepaliveOptions {
  readonly clock: Clock;
  /** Whether there are streams. */
  readonly isNeeded: () => boolean;
  /** Called once: nothing was answered for three seconds. */
  readonly onSilent: () => void;
}

/** One per connection. Ends with it; without streams it asks nothing and has no timer. */
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

  /** There are streams from now on: asks at once, unless it has asked within the last second. */
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
    this.#cancelTimer = clock.after(ASK_MS, this.#ask);
  };
}
