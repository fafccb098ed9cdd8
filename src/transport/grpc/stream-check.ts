// The token check of an RPC: reads the token from the metadata, asks the gate, and notifies the listener of good
// tokens and of the time that the RPC is open. Knows no message.
import type { Metadata } from '@grpc/grpc-js';
import type { SocketListener } from '../socket-listener.ts';
import type { Gate, Visitor } from '../gate.ts';
import type { CallMetadata } from './call-metadata.ts';

export interface CheckedCall {
  readonly metadata: Metadata;
  /** `address:port` of the client. */
  getPeer(): string;
  /** Emitted when the RPC has ended for any reason. */
  on(event: 'cancelled', listener: () => void): unknown;
}

/** One per server. */
export class StreamCheck {
  readonly #gate: Gate;
  readonly #metadata: CallMetadata;
  readonly #connections: Pick<SocketListener, 'began' | 'verified'>;

  /**
   * @param connections - notified of the peer of every RPC and of every good token; without the token check, all tokens are
   * good.
   */
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
    // Read now, because a closed connection has no peer address.
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

  /** An RPC without a token is being answered: restarts the time within which its connection must show a token. */
  answered(call: Pick<CheckedCall, 'getPeer'>): void {
    this.#connections.began(call.getPeer())();
  }
}
