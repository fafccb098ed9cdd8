// What the operator decides about the WebSocket server, in the words of this room.
import type { SocketListenerOptions } from '../socket-listener.ts';

/** Limits and switches of the WebSocket server; times are ms. */
export interface SocketServerSettings extends Pick<
  SocketListenerOptions,
  'host' | 'port' | 'security' | 'handshakeTimeoutMs' | 'unverifiedTimeoutMs' | 'maxUnverifiedPerAddress'
> {
  /** Most sockets at once; further upgrades are refused. */
  readonly maxConnections: number;
  /** Stands before both paths of the profile (W-02): empty, or begins with a slash and ends without one. */
  readonly pathPrefix: string;
  /** Largest message read (W-45), bytes of its text. */
  readonly maxMessageBytes: number;
  /** Longest wait for the first message of a socket for a call (W-20). */
  readonly firstMessageTimeoutMs: number;
  /** Pause between two protocol pings of the server (W-42). */
  readonly pingIntervalMs: number;
  /** Longest wait for the pong to one of them; then the socket is gone. */
  readonly pongTimeoutMs: number;
  /** Longest wait for the question on a socket that lists bots (W-45). */
  readonly listIdleMs: number;
  /** Longest wait for the platform to close a socket whose call has ended (W-29). */
  readonly peerCloseMs: number;
  /** Most bytes that may wait on one socket for the platform to read. */
  readonly maxQueuedBytes: number;
  /** Say with a reply after how much silence the platform reports that nothing came (W-14). */
  readonly sendsNoInputTimeout: boolean;
  /** Name prompt texts in the metadata of replies; for tests only. */
  readonly isRevealingText: boolean;
}
