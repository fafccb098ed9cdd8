// The connections of a load: each carries so many calls, a further one is opened when all are full, and one that broke, or that
// the server wants to end, gets no further turn. Knows no call.
import type { Line } from '../lines/line.ts';
import type { CallIdentity } from '../lines/to-wire.ts';
import { SharedConnection, type SharedConnectionOptions } from './shared-connection.ts';

/** Turns that one call may have open at once: one that is heard, one that listens, and one on its way out. */
const TURNS_OF_A_CALL = 3;

/** Connections to one server. `close` must be called. */
export class ConnectionPool {
  readonly #options: SharedConnectionOptions;
  readonly #callsPerConnection: number;
  #connections: SharedConnection[] = [];

  constructor(options: SharedConnectionOptions, callsPerConnection: number) {
    this.#options = options;
    this.#callsPerConnection = callsPerConnection;
  }

  /** Connections of calls that are over and still close: none, as they stay for others. */
  readonly closing = 0;

  /** Connections that are open. */
  get size(): number {
    return this.#connections.length;
  }

  /**
   * The line of a new call; whoever takes it closes it after the call. A call moves to another connection when its own is used
   * up, as servers and what stands before them let happen every so many calls: only turns that are open then are at stake.
   */
  line(identity: CallIdentity): Line {
    let connection = this.#pick();
    let line = connection.line(identity);
    return {
      open: (listener) => {
        if (!connection.isUsable) {
          line.close();
          connection = this.#pick();
          line = connection.line(identity);
        }
        return line.open(listener);
      },
      close: () => {
        line.close();
      },
    };
  }

  /** Opens connections for so many calls ahead, so that no call waits for its own. */
  prepare(calls: number): void {
    const wanted = Math.ceil(calls / this.#callsPerConnection);
    while (this.#connections.length < wanted) this.#open();
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
    this.#connections = [];
  }

  #pick(): SharedConnection {
    const useful = this.#connections.filter(({ isUsable, turns }) => isUsable || turns > 0);
    for (const gone of this.#connections) if (!useful.includes(gone)) gone.close();
    this.#connections = useful;
    return useful.find((each) => this.#hasRoom(each)) ?? this.#open();
  }

  #open(): SharedConnection {
    const connection = new SharedConnection(this.#options);
    this.#connections.push(connection);
    return connection;
  }

  #hasRoom(connection: SharedConnection): boolean {
    const room = Math.min(this.#callsPerConnection, Math.floor(connection.maxTurns / TURNS_OF_A_CALL));
    return connection.isUsable && connection.calls < Math.max(1, room);
  }
}
