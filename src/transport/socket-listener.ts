// The listening socket of a transport: TLS, and the limits of connections and handshakes, before a byte reaches HTTP.
// grpc-js lacks both limits, so it gets connections that are already open.
import { constants } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { LinePacer } from '../base/line-pacer.ts';
import type { Live } from '../base/live-value.ts';
import type { Logger } from '../base/log.ts';
import { OpenConnections, peerOf, type ClosedFor, type ConnectionLimits } from '../base/open-connections.ts';
import { followIdentity, type TlsIdentity } from '../base/tls-identity.ts';
import { ClientCheck, type ClientDemand } from './client-check.ts';

/** The security of connections: TLS 1.2 or newer (P-12), or none. Each handshake uses the current certificates. */
export type ListenerSecurity =
  | { readonly mode: 'off' }
  | {
      readonly mode: 'tls';
      readonly identity: Live<TlsIdentity>;
      /** Undefined: no client certificates are requested (W-09). */
      readonly clients?: ClientDemand | undefined;
    };

/** Address, security and limits. */
export interface SocketListenerOptions extends ConnectionLimits {
  /** Name in log messages, such as `media server`. */
  readonly name: string;
  /** ALPN protocols, the preferred one first. */
  readonly protocols: readonly [string, ...string[]];
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly security: ListenerSecurity;
  /** Longest time for a TLS handshake, ms. */
  readonly handshakeTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Whether there is a file descriptor for a new connection. If not, a connection without a good token is closed to free
   * one, or else the new connection is closed. Default: always.
   */
  readonly mayTake?: (() => boolean) | undefined;
  /** Called with each connection that is ready for HTTP. */
  readonly onConnection: (connection: net.Socket) => void;
}

export interface SocketListener {
  /** `host:port` as bound. */
  readonly address: string;
  readonly port: number;
  /** A request of this peer, `address:port`, begins. @returns a function to call at the end of the request (P-18). */
  began(peer: string | undefined): () => void;
  /** This peer has shown a valid token (P-18). */
  verified(peer: string | undefined): void;
  /** Accepts no more connections; open ones go on. */
  stopListening(): void;
  /** Destroys every open connection. */
  cut(): void;
  /** Accepts no more connections and waits until the open ones have closed. */
  close(): Promise<void>;
}

/**
 * Opens the listener.
 *
 * @throws AppError `listen_failed` for the address.
 */
export async function openSocketListener(options: SocketListenerOptions): Promise<SocketListener> {
  const { name, security, clock, log } = options;
  // Not `maxConnections` of `net`: a process at that limit gives a connection back to the others on a shared port, and Node
  // 20.20 then offers it to all of them in an endless loop.
  const connections = new OpenConnections(options, clock, closedLog(options));
  const onConnection = (connection: net.Socket): void => {
    connections.ready(peerOf(connection));
    options.onConnection(connection);
  };
  const secure = security.mode === 'off' ? undefined : secureServer(security, { ...options, onConnection });
  const server = net.createServer((socket) => {
    // Each turn handles its broken connection; this listener only keeps the error from ending the process.
    socket.on('error', () => undefined);
    if (options.mayTake?.() === false && !connections.replaceStranger()) {
      socket.destroy();
      return;
    }
    if (!connections.admit(socket)) return;
    if (secure === undefined) onConnection(socket);
    else secure.emit('connection', socket);
  });
  server.once('close', () => secure?.close());
  const bound = await listen(server, options.host, options.port);
  server.on('error', (error) => {
    log.error({ err: error }, `the socket of the ${name} failed`);
  });
  const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return {
    cut: () => {
      connections.cut();
    },
    began: (peer) => connections.began(peer),
    verified: (peer) => {
      connections.verified(peer);
    },
    address: `${host}:${String(bound.port)}`,
    port: bound.port,
    stopListening: () => {
      server.close();
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      await closed;
      // The last connections may be gone although their close events are still to come.
      connections.cut();
    },
  };
}

/** Paced: a flood of connections must not flood the log. */
function closedLog({ name, clock, log, ...options }: SocketListenerOptions): (why: ClosedFor) => void {
  const pacer = new LinePacer<ClosedFor>(clock);
  const limits = {
    max_connections: { level: 'warn', limit: options.maxConnections, text: 'as many as allowed are open' },
    max_unverified_per_address: {
      level: 'warn',
      limit: options.maxUnverifiedPerAddress,
      text: 'too many of one address have shown no valid token',
    },
    // At debug level, because probes of an open port are frequent.
    unverified_timeout_ms: { level: 'debug', limit: options.unverifiedTimeoutMs, text: 'they showed no valid token in time' },
  } as const satisfies Record<ClosedFor, unknown>;
  return (why) => {
    const leftOut = pacer.next(why);
    if (leftOut === undefined) return;
    const { level, limit, text } = limits[why];
    log[level]({ setting: why, limit, closed: leftOut + 1 }, `connections to the ${name} were closed: ${text}`);
  };
}

/** Handles the TLS handshakes of connections that it is given; does not listen itself. */
function secureServer(security: Extract<ListenerSecurity, { mode: 'tls' }>, options: SocketListenerOptions): tls.Server {
  const { identity, clients } = security;
  const { name, protocols, handshakeTimeoutMs, log, onConnection } = options;
  const context = (): tls.SecureContextOptions => contextOf(security);
  const check = clients === undefined ? undefined : new ClientCheck(clients, options);
  const server = tls.createServer(
    {
      ...context(),
      ALPNProtocols: [...protocols],
      handshakeTimeout: handshakeTimeoutMs,
      requestCert: check !== undefined,
      rejectUnauthorized: check !== undefined,
    },
    (connection) => {
      if (check === undefined || check.lets(connection)) onConnection(connection);
    },
  );
  followIdentity(server, context, clients === undefined ? [identity] : [identity, clients.trust]);
  server.on('tlsClientError', (error, socket) => {
    check?.failed(error, socket);
    log.debug({ err: error }, `a TLS handshake with the ${name} failed`);
    // After a time-out nothing else closes the socket.
    socket.destroy();
  });
  return server;
}

function contextOf({ identity, clients }: Extract<ListenerSecurity, { mode: 'tls' }>): tls.SecureContextOptions {
  const { certificate: cert, key } = identity.current;
  const context = { cert, key, minVersion: 'TLSv1.2' } as const;
  if (clients === undefined) return context;
  // Without session tickets every handshake shows the client's certificate, so that withdrawn trust takes effect at once.
  return { ...context, ca: [...clients.trust.current.authorities], secureOptions: constants.SSL_OP_NO_TICKET };
}

/**
 * Listens on an address. @returns the bound address.
 *
 * @param isExclusive - the port is not shared with other workers.
 * @throws AppError `listen_failed` for the address.
 */
export function listen(server: net.Server, host: string, port: number, isExclusive = false): Promise<net.AddressInfo> {
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void => {
      reject(
        new AppError('listen_failed', `cannot listen on ${host}:${String(port)}: ${cause.message}`, { details: { host, port }, cause }),
      );
    };
    server.once('error', failed);
    server.listen({ host, port, exclusive: isExclusive }, () => {
      server.off('error', failed);
      const bound = server.address();
      if (bound === null || typeof bound === 'string') failed(new Error('the socket has no address'));
      else resolve(bound);
    });
  });
}
