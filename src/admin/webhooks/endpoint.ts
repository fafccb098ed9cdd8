// The HTTP endpoint for the platform's deliveries: one route that accepts raw bytes. It faces the internet, so everything is bounded, and
// unknown clients get only a status. The receiver interprets deliveries.
import fastify, { type FastifyInstance } from 'fastify';
import { STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Server as TlsServer, type SecureContextOptions } from 'node:tls';
import { waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Live } from '../../base/live-value.ts';
import { OpenConnections, peerOf, type ConnectionLimits } from '../../base/open-connections.ts';
import { followIdentity, type TlsIdentity } from '../../base/tls-identity.ts';
import { DELIVERY_STATUS, type Receiver } from './receiver.ts';

/** Largest delivery, bytes; real ones have about one thousand. */
const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 8192;
const MAX_CONNECTIONS = 100;
const REQUEST_TIMEOUT_MS = 5000;
const IDLE_CONNECTION_MS = 10_000;
/** Limit for open connections when closing, ms: longer than a request may take, because Node then enforces no limits of its own. */
const CLOSE_MS = 6000;

export interface EndpointOptions extends Omit<ConnectionLimits, 'maxConnections'> {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Path of the only route; begins with a slash. */
  readonly path: string;
  /** Undefined behind a proxy that terminates TLS. Each handshake uses the current certificate. */
  readonly tls?: Live<TlsIdentity> | undefined;
  /** Names of the signature headers, from the profile (H-10, H-11). */
  readonly sha1Header: string;
  readonly sha2Header: string;
  readonly receiver: Receiver;
  readonly clock: Clock;
}

export interface Endpoint {
  /** The port that the endpoint listens on. */
  readonly port: number;
  /** Stops listening. Answers running deliveries first, and waits a few seconds for idle connections. */
  close(): Promise<void>;
}

/**
 * Starts listening.
 *
 * @throws AppError `listen_failed` when the address is taken or not allowed.
 */
export async function startEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { host, port, tls, clock } = options;
  const limits = {
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerNoRequest,
  } as const;
  const http = { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1000 };
  const https = { ...http, handshakeTimeout: REQUEST_TIMEOUT_MS };
  const server: FastifyInstance =
    tls === undefined ? fastify({ ...limits, http }) : fastify({ ...limits, https: { ...https, ...contextOf(tls) } });
  if (tls !== undefined && server.server instanceof TlsServer) followIdentity(server.server, () => contextOf(tls), [tls]);
  // Also counts connections before their TLS handshake, which Node does not count as HTTP connections.
  const connections = new OpenConnections({ ...options, maxConnections: MAX_CONNECTIONS }, clock);
  server.server.on('connection', (socket) => {
    // Not `maxConnections`: Node 20 would then offer the connection to other processes again and again.
    if (connections.admit(socket)) connections.ready(peerOf(socket));
  });
  addRoute(server, options, connections);
  try {
    await server.listen({ host, port });
  } catch (cause) {
    await server.close();
    throw new AppError('listen_failed', `the webhook endpoint cannot listen on ${host}, port ${String(port)}`, {
      details: { host, port },
      cause,
    });
  }
  // A server that listens on a port has an address object; only pipes have a string.
  const bound = server.server.address() as AddressInfo;
  return {
    port: bound.port,
    close: async () => {
      const closed = server.close();
      await waitAtMost(closed, CLOSE_MS, clock);
      connections.cut();
      await closed;
    },
  };
}

function contextOf({ current: { certificate: cert, key } }: Live<TlsIdentity>): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2' };
}

/** Answers connections whose request is incomplete or invalid. */
function answerNoRequest({ code }: NodeJS.ErrnoException, socket: Socket): void {
  const status = code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const answer = `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
  if (socket.writable) socket.write(answer);
  socket.destroy();
}

function addRoute(
  server: FastifyInstance,
  { path, receiver, sha1Header, sha2Header }: EndpointOptions,
  connections: Pick<OpenConnections, 'began' | 'verified'>,
): void {
  // Any content type: the signature covers the raw bytes, and would not match re-encoded JSON (H-12).
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  server.post(path, async (request, reply) => {
    const header = (name: string): string | undefined => {
      const value = request.headers[name.toLowerCase()];
      return typeof value === 'string' ? value : undefined;
    };
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const peer = peerOf(request.socket);
    const over = connections.began(peer);
    const outcome = await receiver.receive(body, { sha1: header(sha1Header), sha2: header(sha2Header) });
    if (outcome !== 'unsigned') connections.verified(peer);
    over();
    return reply.code(DELIVERY_STATUS[outcome]).header('cache-control', 'no-store').send();
  });
  server.setNotFoundHandler((_request, reply) => reply.code(404).send());
  server.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
    return reply.code(typeof status === 'number' && status >= 400 && status < 500 ? status : 500).send();
  });
}
