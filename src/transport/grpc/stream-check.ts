// The token check of an RPC: reads the token from its metadata, asks the gate, and tells the door whose connection showed a
// good one. Knows no message.
import type { Metadata } from '@grpc/grpc-js';
import type { Gate, Visitor } from '../gate.ts';
import type { CallMetadata } from './call-metadata.ts';

/** What it needs of an RPC. */
export interface CheckedCall {
  readonly metadata: Metadata;
  /** `address:port` of the other side. */
  getPeer(): string;
}

/** One per server. */
export class StreamCheck {
  readonly #gate: Gate;
  readonly #metadata: CallMetadata;
  readonly #onVerified: (peer: string) => void;

  /** @param onVerified - told of the peer behind every good token, and behind every RPC where the check is off. */
  constructor(gate: Gate, metadata: CallMetadata, onVerified: (peer: string) => void) {
    this.#gate = gate;
    this.#metadata = metadata;
    this.#onVerified = onVerified;
  }

  /**
   * Checks the token of an RPC; see {@link Gate.check}.
   *
   * @throws AppError `unauthenticated` (G-02), also through the promise.
   */
  check(call: CheckedCall): Visitor | Promise<Visitor> {
    const visitor = this.#gate.check(this.#metadata.authorization(call.metadata));
    // Now: once the connection is gone, nobody can say whose it was.
    const peer = call.getPeer();
    if (visitor instanceof Promise) return visitor.then((checked) => this.#verified(checked, peer));
    return this.#verified(visitor, peer);
  }

  #verified(visitor: Visitor, peer: string): Visitor {
    this.#onVerified(peer);
    return visitor;
  }
}
