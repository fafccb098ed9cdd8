// The gRPC connections of a load. Each carries a limited number of calls; another one opens when all are full. A connection that broke, or
// that the server wants to end, gets no further turn. Knows no turn grammar.
import { turnsOf, type GrpcAccess } from '../lines/grpc-turns.ts';
import type { Line } from '../lines/line.ts';
import { RpcConnection, type RpcConnectionOptions } from '../lines/rpc-connection.ts';
import type { CallIdentity } from '../lines/to-wire.ts';

/** How to reach a server, and the callers' identity. */
export type ConnectionPoolOptions = RpcConnectionOptions & GrpcAccess;

interface Shared {
  readonly connection: RpcConnection;
  /** Number of calls on the connection now. */
  calls: number;
}

/** Most parallel turns of one call: one that still speaks, one that listens, and one that is closing. */
const TURNS_OF_A_CALL = 3;

/** Connections to one server. `close` must be called. */
export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  readonly #callsPerConnection: number;
  #all: Shared[] = [];

  constructor(options: ConnectionPoolOptions, callsPerConnection: number) {
    this.#options = options;
    this.#callsPerConnection = callsPerConnection;
  }

  /** Finished calls whose connection is still closing: none, because connections stay for other calls. */
  readonly closing = 0;

  get size(): number {
    return this.#all.length;
  }

  /**
   * The line of a new call; whoever takes it closes it after the call. Servers and proxies end connections from time to time: the next turn
   * of the call then uses another connection, and only open turns are at risk.
   */
  line(identity: CallIdentity): Line {
    const open = turnsOf(this.#options, identity);
    let shared = this.#take();
    let isOpen = true;
    return {
      open: (listener) => {
        if (!shared.connection.isUsable) {
          shared.calls -= 1;
          shared = this.#take();
        }
        return open(shared.connection, listener);
      },
      close: () => {
        if (isOpen) shared.calls -= 1;
        isOpen = false;
      },
    };
  }

  /** Opens enough connections for this many calls in advance, so that no call waits for one. */
  prepare(calls: number): void {
    const wanted = Math.ceil(calls / this.#callsPerConnection);
    while (this.#all.length < wanted) this.#add();
  }

  close(): void {
    for (const { connection } of this.#all) connection.close();
    this.#all = [];
  }

  /** A connection with room for one more call, which is then counted. */
  #take(): Shared {
    const useful = this.#all.filter(({ connection }) => connection.isUsable || connection.openRpcs > 0);
    for (const gone of this.#all) if (!useful.includes(gone)) gone.connection.close();
    this.#all = useful;
    const taken = useful.find((each) => this.#hasRoom(each)) ?? this.#add();
    taken.calls += 1;
    return taken;
  }

  #add(): Shared {
    const added = { connection: new RpcConnection(this.#options), calls: 0 };
    this.#all.push(added);
    return added;
  }

  #hasRoom({ connection, calls }: Shared): boolean {
    const room = Math.min(this.#callsPerConnection, Math.floor(connection.maxRpcs / TURNS_OF_A_CALL));
    return connection.isUsable && calls < Math.max(1, room);
  }
}
