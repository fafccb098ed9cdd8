// The listening socket of a transport: TLS, the number of connections and the time for a handshake are decided here,
// before a byte reaches HTTP. grpc-js offers neither limit, so it gets connections that are already open.
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

/**
 * How connections are secured: TLS 1.2 or newer (P-12), or not at all. Handshakes have the identity and the trust of their
 * moment.
 */
export type ListenerSecurity =
  | { readonly mode: 'off' }
  | {
      readonly mode: 'tls';
      readonly identity: Live<TlsIdentity>;
      /** Undefined: no client is asked for a certificate (W-09). */
      readonly clients?: ClientDemand | undefined;
    };

/** Address, security and limits. */
export interface SocketListenerOptions extends ConnectionLimits {
  /** Whose socket it is, in the words of the log: `media server`. */
  readonly name: string;
  /** What may be spoken on a connection over TLS, best first (ALPN). */
  readonly protocols: readonly [string, ...string[]];
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly security: ListenerSecurity;
  /** Longest time for a TLS handshake, ms. */
  readonly handshakeTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether there is a descriptor for a new connection. Where not, a stranger's is closed for it, or it is closed at once. Default: there is. */
  readonly mayTake?: (() => boolean) | undefined;
  /** Takes each connection that is ready for the first byte of HTTP. */
  readonly onConnection: (connection: net.Socket) => void;
}

/** A socket that listens. */
export interface SocketListener {
  /** `host:port` as bound. */
  readonly address: string;
  readonly port: number;
  /** A request of this peer, `address:port`, is being answered. @returns what to call when it is over (P-18). */
  began(peer: string | undefined): () => void;
  /** A good token came from this peer (P-18). */
  verified(peer: string | undefined): void;
  /** Takes no more connections; open ones go on. */
  stopListening(): void;
  /** Breaks every open connection. */
  cut(): void;
  /** Takes no more connections and waits until the open ones are gone. */
  close(): Promise<void>;
}

/**
 * Listens.
 *
 * @throws AppError `listen_failed` for the address.
 */
export async function openSocketListener(options: SocketListenerOptions): Promise<SocketListener> {
  const { name, security, clock, log } = options;
  // Counted here and not by `net`: with its limit, one of several processes that share the port would give the connection
  // back, and Node 20.20 would offer it to all of them without end and without a pause.
  const connections = new OpenConnections(options, clock, closedLog(options));
  const onConnection = (connection: net.Socket): void => {
    connections.ready(peerOf(connection));
    options.onConnection(connection);
  };
  const secure = security.mode === 'off' ? undefined : secureServer(security, { ...options, onConnection });
  const server = net.createServer((socket) => {
    // Broken connections are the turns' business; here they only must not end the process.
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
      // The last ones have gone, and may not have said so yet.
      connections.cut();
    },
  };
}

/** Whoever floods a server with connections must not flood its log. */
function closedLog({ name, clock, log, ...options }: SocketListenerOptions): (why: ClosedFor) => void {
  const pacer = new LinePacer<ClosedFor>(clock);
  const limits = {
    max_connections: { level: 'warn', limit: options.maxConnections, text: 'as many as allowed are open' },
    max_unverified_per_address: {
      level: 'warn',
      limit: options.maxUnverifiedPerAddress,
      text: 'too many of one address have shown no good token',
    },
    // Probes of an open port do this all day.
    unverified_timeout_ms: { level: 'debug', limit: options.unverifiedTimeoutMs, text: 'they showed no good token in time' },
  } as const satisfies Record<ClosedFor, unknown>;
  return (why) => {
    const leftOut = pacer.next(why);
    if (leftOut === undefined) return;
    const { level, limit, text } = limits[why];
    log[level]({ setting: why, limit, closed: leftOut + 1 }, `connections to the ${name} were closed: ${text}`);
  };
}

/** Leads connections through their handshakes that it is given; it listens nowhere itself. */
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
    // After a time-out nobody else closes it.
    socket.destroy();
  });
  return server;
}

function contextOf({ identity, clients }: Extract<ListenerSecurity, { mode: 'tls' }>): tls.SecureContextOptions {
  const { certificate: cert, key } = identity.current;
  const context = { cert, key, minVersion: 'TLSv1.2' } as const;
  if (clients === undefined) return context;
  // Without tickets every handshake shows its certificate, so that trust which is withdrawn ends at once.
  return { ...context, ca: [...clients.trust.current.authorities], secureOptions: constants.SSL_OP_NO_TICKET };
}

/**
 * Listens, and says where.
 *
 * @param isExclusive - one of several processes listens there alone, instead of all of them together.
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
