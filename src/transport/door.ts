// The listening socket of a transport: TLS, the number of connections and the time for a handshake are decided here,
// before a byte reaches HTTP. grpc-js offers neither limit, so it gets connections that are already open.
import net from 'node:net';
import tls from 'node:tls';
import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { LinePacer } from '../base/line-pacer.ts';
import type { Logger } from '../base/log.ts';
import { readTlsIdentity, type TlsFiles } from '../base/tls-identity.ts';

/** How connections are secured: TLS 1.2 or newer from PEM files (P-12), or not at all. No client shows a certificate (W-09). */
export type DoorSecurity = { readonly mode: 'off' } | ({ readonly mode: 'files' } & TlsFiles);

/** Address, security and limits. */
export interface DoorOptions {
  /** Whose door it is, in the words of the log: `media server`. */
  readonly name: string;
  /** What may be spoken on a connection over TLS, best first (ALPN). */
  readonly protocols: readonly [string, ...string[]];
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly security: DoorSecurity;
  /** Most connections at once; further ones are closed at once. */
  readonly maxConnections: number;
  /** Longest time for a TLS handshake, ms. */
  readonly handshakeTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes each connection that is ready for the first byte of HTTP. */
  readonly onConnection: (connection: Duplex) => void;
}

/** An open door. */
export interface Door {
  /** `host:port` as bound. */
  readonly address: string;
  readonly port: number;
  /** Takes no more connections; open ones go on. */
  stopListening(): void;
  /** Breaks every open connection. */
  cut(): void;
  /** Takes no more connections and waits until the open ones are gone. */
  close(): Promise<void>;
}

/**
 * Opens the door.
 *
 * @throws AppError `certificate_invalid` for unreadable or mismatched PEM files, `listen_failed` for the address.
 */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const { name, security, log, onConnection } = options;
  const server = security.mode === 'off' ? net.createServer(onConnection) : await secureServer(security, options);
  server.maxConnections = options.maxConnections;
  server.on('drop', dropLog(options));
  const connections = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    // Broken connections are the turns' business; here they only must not end the process.
    socket.on('error', () => undefined);
  });
  await listen(server, options.host, options.port);
  server.on('error', (error) => {
    log.error({ err: error }, `the socket of the ${name} failed`);
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new AppError('listen_failed', `the socket of the ${name} has no address`);
  const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  const cut = (): void => {
    for (const socket of connections) socket.destroy();
  };
  return {
    cut,
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
    },
  };
}

/** Whoever floods a server with connections must not flood its log. */
function dropLog({ name, clock, log, maxConnections }: DoorOptions): () => void {
  const pacer = new LinePacer<'closed'>(clock);
  return () => {
    const leftOut = pacer.next('closed');
    if (leftOut === undefined) return;
    log.warn({ limit: maxConnections, closed: leftOut + 1 }, `connections to the ${name} were closed at once: as many as allowed are open`);
  };
}

async function secureServer(files: TlsFiles, options: DoorOptions): Promise<tls.Server> {
  const { certificate: cert, key } = await readTlsIdentity(files);
  const server = tls.createServer(
    { cert, key, minVersion: 'TLSv1.2', ALPNProtocols: [...options.protocols], handshakeTimeout: options.handshakeTimeoutMs },
    options.onConnection,
  );
  server.on('tlsClientError', (error, socket) => {
    options.log.debug({ err: error }, `a TLS handshake with the ${options.name} failed`);
    // After a time-out nobody else closes it.
    socket.destroy();
  });
  return server;
}

function listen(server: net.Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void => {
      reject(
        new AppError('listen_failed', `cannot listen on ${host}:${String(port)}: ${cause.message}`, { details: { host, port }, cause }),
      );
    };
    server.once('error', failed);
    server.listen({ host, port }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}
