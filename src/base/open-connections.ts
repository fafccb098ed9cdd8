// The connections of one listening port: limits their number, and for connections without a good token also the time and the number per
// address. Connections without a good token are closed before those with one, and idle ones before those that wait for a reply.
import type { Socket } from 'node:net';
import type { CancelTimer, Clock } from './clock.ts';

/** Limits of one port. */
export interface ConnectionLimits {
  /** Most connections at once. */
  readonly maxConnections: number;
  /**
   * Longest wait for the first good token of a connection that can carry requests, ms. The wait pauses while a request is answered, and
   * starts again after each reply, 1.5 times as long: otherwise a regular health check would be cut off.
   */
  readonly unverifiedTimeoutMs: number;
  /** Most connections from one remote address that have shown no good token yet. */
  readonly maxUnverifiedPerAddress: number;
}

/**
 * The setting for which a connection was closed: too many are open, too many from its address have shown no good token, or it showed
 * none in time.
 */
export type ClosedFor = 'max_connections' | 'max_unverified_per_address' | 'unverified_timeout_ms';

/** How much longer the wait for a good token is after a reply, as a factor. */
const ONCE_ANSWERED = 1.5;

/** Address and port of the client, which identify a connection while it is open; undefined once it is closed. */
export function peerOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress}:${String(remotePort)}`;
}

interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  readonly address: string;
  isVerified: boolean;
  /** Number of open requests. */
  requests: number;
  cancelTimer: CancelTimer | undefined;
}

/**
 * One per port.
 *
 * Connections without a good token are called strangers here. A stranger with an open request is closed only for `max_connections`, and
 * only when no idle stranger is left: while keys are fetched, a proxy may open more strangers from one address than its limit allows.
 * `max_connections` bounds their number, and the check of their tokens their time: it ends when the keys are fetched or the fetch has
 * failed.
 */
export class OpenConnections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #onClosed: (why: ClosedFor) => void;
  /** By peer, the longest idle first. */
  readonly #open = new Map<string, Connection>();
  /** Connections without a good token, by address, the longest idle first. */
  readonly #strangers = new Map<string, Set<Connection>>();

  /** @param onClosed - called for each connection that was closed for one of the limits. */
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
    const neighbours = this.#strangers.get(address);
    if (neighbours !== undefined && neighbours.size >= maxUnverifiedPerAddress) {
      this.#close(firstOf(neighbours, isIdle), 'max_unverified_per_address');
    }
    if (this.#open.size >= maxConnections && !this.#close(this.#leastNeeded(), 'max_connections')) {
      socket.destroy();
      this.#onClosed('max_connections');
      return false;
    }
    const connection: Connection = { socket, peer, address, isVerified: false, requests: 0, cancelTimer: undefined };
    this.#remember(connection);
    socket.once('close', () => {
      this.#forget(connection);
    });
    return true;
  }

  /** Closes a connection without a good token, so that a new one gets its descriptor. @returns false when there is none. */
  replaceStranger(): boolean {
    const stranger = this.#leastStranger();
    if (stranger === undefined) return false;
    this.#forget(stranger);
    stranger.socket.destroy();
    return true;
  }

  /** Something may be asked on the connection from now on: the wait for a good token begins. */
  ready(peer: string | undefined): void {
    const connection = this.#of(peer);
    if (connection !== undefined && isIdle(connection)) this.#awaitToken(connection, this.#limits.unverifiedTimeoutMs);
  }

  /** A request on the connection is being answered. @returns a function to call when it is over; further calls do nothing. */
  began(peer: string | undefined): () => void {
    const connection = this.#of(peer);
    if (connection === undefined) return () => undefined;
    connection.requests += 1;
    connection.cancelTimer?.();
    connection.cancelTimer = undefined;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      connection.requests -= 1;
      if (!isIdle(connection) || this.#of(peer) !== connection) return;
      // Moves the connection behind all that have been idle for longer.
      this.#forget(connection);
      this.#remember(connection);
      this.#awaitToken(connection, this.#limits.unverifiedTimeoutMs * ONCE_ANSWERED);
    };
  }

  /** A good token came on the connection: the limits of strangers no longer concern it. */
  verified(peer: string | undefined): void {
    const connection = this.#of(peer);
    if (connection === undefined || connection.isVerified) return;
    this.#forget(connection);
    connection.isVerified = true;
    this.#remember(connection);
  }

  /** Breaks every connection, and waits for nothing any more. */
  cut(): void {
    for (const connection of [...this.#open.values()]) {
      this.#forget(connection);
      connection.socket.destroy();
    }
  }

  #of(peer: string | undefined): Connection | undefined {
    return peer === undefined ? undefined : this.#open.get(peer);
  }

  #awaitToken(connection: Connection, limitMs: number): void {
    if (connection.isVerified) return;
    connection.cancelTimer ??= this.#clock.after(limitMs, () => {
      this.#close(connection, 'unverified_timeout_ms');
    });
  }

  /** A connection without a good token, or else one without an open request: its client can connect again. */
  #leastNeeded(): Connection | undefined {
    return this.#leastStranger() ?? firstOf(this.#open.values(), isIdle);
  }

  #leastStranger(): Connection | undefined {
    if (this.#strangers.size === 0) return undefined;
    const isStranger = ({ isVerified }: Connection): boolean => !isVerified;
    return firstOf(this.#open.values(), (each) => isStranger(each) && isIdle(each)) ?? firstOf(this.#open.values(), isStranger);
  }

  #close(connection: Connection | undefined, why: ClosedFor): boolean {
    if (connection === undefined) return false;
    // At once, without waiting for its close event: a new connection needs the room.
    this.#forget(connection);
    connection.socket.destroy();
    this.#onClosed(why);
    return true;
  }

  #remember(connection: Connection): void {
    const { peer, address, isVerified } = connection;
    this.#open.set(peer, connection);
    if (!isVerified) this.#strangers.set(address, (this.#strangers.get(address) ?? new Set()).add(connection));
  }

  #forget(connection: Connection): void {
    const { peer, address } = connection;
    connection.cancelTimer?.();
    connection.cancelTimer = undefined;
    // The same peer may have a new connection by now.
    if (this.#open.get(peer) === connection) this.#open.delete(peer);
    const neighbours = this.#strangers.get(address);
    neighbours?.delete(connection);
    if (neighbours?.size === 0) this.#strangers.delete(address);
  }
}

function isIdle({ requests }: Connection): boolean {
  return requests === 0;
}

function firstOf(connections: Iterable<Connection>, isWanted: (connection: Connection) => boolean): Connection | undefined {
  for (const connection of connections) if (isWanted(connection)) return connection;
  return undefined;
}
