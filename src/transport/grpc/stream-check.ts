// The token check of an RPC: reads the token from its metadata, asks the gate, and reports whose connection showed a
// good one and for how long the RPC is open. Knows no message.
import type { Metadata } from '@grpc/grpc-js';
import type { SocketListener } from '../socket-listener.ts';
import type { Gate, Visitor } from '../gate.ts';
import type { CallMetadata } from './call-metadata.ts';

/** What it needs of an RPC. */
export interface CheckedCall {
  readonly metadata: Metadata;
  /** `address:port` of the other side. */
  getPeer(): string;
  /** It is over, whoever ended it. */
  on(event: 'cancelled', listener: () => void): unknown;
}

/** One per server. */
export class StreamCheck {
  readonly #gate: Gate;
  readonly #metadata: CallMetadata;
  readonly #connections: Pick<SocketListener, 'began' | 'verified'>;

  /** @param connections - notified of the peer of every RPC, and of every good token: all are good where the check is off. */
  constructor(gate: Gate, metadata: CallMetadata, connections: Pick<SocketListener, 'began' | 'verified'>) {
    this.#gate = gate;
    this.#metadata = metadata;
    this.#connections = connections;
  }

  /**
   * Checks the token of an RPC; see {@link Gate.check}.
   *
   * @throws AppError `unauthenticated` (G-02), also through the promise.
   */
  check(call: CheckedCall): Visitor | Promise<Visitor> {
    // Now: once the connection is gone, nobody can say whose it was.
    const peer = call.getPeer();
    const over = this.#connections.began(peer);
    call.on('cancelled', over);
    const good = (visitor: Visitor): Visitor => {
      this.#connections.verified(peer);
      return visitor;
    };
    const refused = (thrown: unknown): never => {
      over();
      throw thrown;
    };
    try {
      const visitor = this.#gate.check(this.#metadata.authorization(call.metadata));
      return visitor instanceof Promise ? visitor.then(good, refused) : good(visitor);
    } catch (thrown) {
      return refused(thrown);
    }
  }

  /** An RPC that needs no token is being answered: its connection may stay as if it were new. */
  answered(call: Pick<CheckedCall, 'getPeer'>): void {
    this.#connections.began(call.getPeer())();
  }
}
