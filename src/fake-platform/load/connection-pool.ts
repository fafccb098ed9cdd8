// The connections of a load: each carries so many calls, a further one is opened when all are full, and one that broke is
// used no more. Knows no call.
import type { Line } from '../line.ts';
import type { CallIdentity } from '../to-wire.ts';
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

  /** Connections that are open. */
  get size(): number {
    return this.#connections.length;
  }

  /** The line of a new call; whoever takes it closes it after the call. */
  line(identity: CallIdentity): Line {
    const usable = this.#connections.filter((connection) => connection.isUsable || connection.calls > 0);
    for (const gone of this.#connections) if (!usable.includes(gone)) gone.close();
    this.#connections = usable;
    const connection = usable.find((each) => this.#hasRoom(each)) ?? this.#open();
    return connection.line(identity);
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
