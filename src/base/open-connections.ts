// The connections of one listening port: how many there may be, and how long and how many from one address without a good
// token. Whoever is verified keeps his place; among the others the oldest gives way, so that strangers cannot hold the port.
import type { Socket } from 'node:net';
import type { CancelTimer, Clock } from './clock.ts';

/** Limits of one port. */
export interface ConnectionLimits {
  /** Most connections at once. */
  readonly maxConnections: number;
  /** Longest wait for the first good token of a connection on which something may be asked, ms. */
  readonly unverifiedTimeoutMs: number;
  /** Most connections from one remote address that have shown no good token yet. */
  readonly maxUnverifiedPerAddress: number;
}

/** Why a connection was closed: as many as allowed are open, or as many from its address that have shown no good token. */
export type ClosedFor = 'max_connections' | 'max_unverified_per_address';

/** Both ends of a connection know it by this as long as it is open; undefined once it is gone. */
export function peerOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress}:${String(remotePort)}`;
}

interface Unverified {
  readonly socket: Socket;
  readonly address: string;
  cancelTimer?: CancelTimer;
}

/** One per port. */
export class OpenConnections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #onClosed: (why: ClosedFor) => void;
  readonly #open = new Set<Socket>();
  /** By peer, the oldest first. */
  readonly #unverified = new Map<string, Unverified>();
  /** Peers that are not verified, by address, the oldest first. */
  readonly #byAddress = new Map<string, Set<string>>();

  /** @param onClosed - told of each connection that was closed for one of the limits. */
  constructor(limits: ConnectionLimits, clock: Clock, onClosed: (why: ClosedFor) => void = () => undefined) {
    this.#limits = limits;
    this.#clock = clock;
    this.#onClosed = onClosed;
  }

  /** Takes a connection that was just accepted. @returns false when there is no room: then it is closed. */
  admit(socket: Socket): boolean {
    const { maxConnections, maxUnverifiedPerAddress } = this.#limits;
    const peer = peerOf(socket);
    const address = socket.remoteAddress;
    if (peer === undefined || address === undefined) {
      socket.destroy();
      return false;
    }
    const [oldestHere] = this.#byAddress.get(address) ?? [];
    if (oldestHere !== undefined && this.#unverifiedFrom(address) >= maxUnverifiedPerAddress) {
      this.#close(oldestHere, 'max_unverified_per_address');
    }
    if (this.#open.size >= maxConnections && !this.#makeRoom()) {
      socket.destroy();
      this.#onClosed('max_connections');
      return false;
    }
    this.#open.add(socket);
    this.#unverified.set(peer, { socket, address });
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? new Set()).add(peer));
    socket.once('close', () => {
      this.#open.delete(socket);
      // The same peer may have come again by now.
      if (this.#unverified.get(peer)?.socket === socket) this.#forget(peer);
    });
    return true;
  }

  /** Something may be asked on the connection from now on: the wait for a good token begins. */
  ready(peer: string | undefined): void {
    const unverified = peer === undefined ? undefined : this.#unverified.get(peer);
    if (unverified === undefined) return;
    unverified.cancelTimer ??= this.#clock.after(this.#limits.unverifiedTimeoutMs, () => unverified.socket.destroy());
  }

  /** A good token came on the connection: the limits of strangers no longer concern it. */
  verified(peer: string | undefined): void {
    if (peer !== undefined) this.#forget(peer);
  }

  /** Breaks every connection, and waits for nothing any more. */
  cut(): void {
    for (const peer of [...this.#unverified.keys()]) this.#forget(peer);
    for (const socket of this.#open) socket.destroy();
  }

  #unverifiedFrom(address: string): number {
    return this.#byAddress.get(address)?.size ?? 0;
  }

  #makeRoom(): boolean {
    const [oldest] = this.#unverified.keys();
    if (oldest === undefined) return false;
    this.#close(oldest, 'max_connections');
    return true;
  }

  #close(peer: string, why: ClosedFor): void {
    const socket = this.#unverified.get(peer)?.socket;
    this.#forget(peer);
    if (socket === undefined) return;
    // At once, and not when it says so: somebody waits for the place.
    this.#open.delete(socket);
    socket.destroy();
    this.#onClosed(why);
  }

  #forget(peer: string): void {
    const unverified = this.#unverified.get(peer);
    if (unverified === undefined) return;
    unverified.cancelTimer?.();
    this.#unverified.delete(peer);
    const peers = this.#byAddress.get(unverified.address);
    peers?.delete(peer);
    if (peers?.size === 0) this.#byAddress.delete(unverified.address);
  }
}
