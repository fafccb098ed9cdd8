// The sockets of a load: one for each call, as the platform does it (W-08). Knows no call.
import type { Line } from '../lines/line.ts';
import { SocketLine, type SocketLineOptions } from '../lines/socket/socket-line.ts';
import type { CallIdentity } from '../lines/to-wire.ts';
import { wrappedLine } from '../lines/wrapped-line.ts';

/** Sockets to one server. `close` must be called. */
export class SocketPool {
  readonly #options: Omit<SocketLineOptions, 'noInputMs'>;
  readonly #lines = new Set<SocketLine>();
  #closing = 0;

  constructor(options: Omit<SocketLineOptions, 'noInputMs'>) {
    this.#options = options;
  }

  get size(): number {
    return this.#lines.size;
  }

  /** Sockets of finished calls that wait for the server's close. */
  get closing(): number {
    return this.#closing;
  }

  /**
   * The line of a new call, which dials at once; whoever takes it closes it after the call.
   * @param noInputMs - silence before no-input where the server names no time (W-14), ms; 0: never.
   */
  line(identity: CallIdentity, noInputMs: number): Line {
    const line = new SocketLine({ ...this.#options, noInputMs }, identity);
    this.#lines.add(line);
    void line.dial();
    return wrappedLine(line, {
      close: () => {
        this.#closing += 1;
        void line.closed().then(() => {
          this.#closing -= 1;
          this.#lines.delete(line);
        });
      },
    });
  }

  close(): void {
    for (const line of this.#lines) line.drop();
    this.#lines.clear();
  }
}
