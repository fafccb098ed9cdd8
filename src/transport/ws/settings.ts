// The operator's settings of the WebSocket server.
import type { SocketListenerOptions } from '../socket-listener.ts';

/** Limits and switches of the WebSocket server; times are ms. */
export interface SocketServerSettings extends Pick<
  SocketListenerOptions,
  'host' | 'port' | 'security' | 'handshakeTimeoutMs' | 'unverifiedTimeoutMs' | 'maxUnverifiedPerAddress'
> {
  /** Most sockets at once; further upgrades are refused. */
  readonly maxConnections: number;
  /** Prefix of both paths of the profile (W-02): empty, or with a leading and without a trailing slash. */
  readonly pathPrefix: string;
  /** Largest message read (W-45), bytes of its text. */
  readonly maxMessageBytes: number;
  /** Longest wait for the first message of a socket for a call (W-20). */
  readonly firstMessageTimeoutMs: number;
  /** Pause between two protocol pings of the server (W-42). */
  readonly pingIntervalMs: number;
  /** Longest wait for a pong; then the socket is terminated. */
  readonly pongTimeoutMs: number;
  /** Longest wait for the request on a socket that lists bots (W-45). */
  readonly listIdleMs: number;
  /** Longest wait for the platform to close a socket whose call has ended (W-29). */
  readonly peerCloseMs: number;
  /** Most bytes that may wait on one socket for the platform to read. */
  readonly maxQueuedBytes: number;
  /** Whether replies contain the no-input timeout (W-14). */
  readonly sendsNoInputTimeout: boolean;
  /** Whether the metadata of replies contain the prompt texts; for tests only. */
  readonly isRevealingText: boolean;
}
