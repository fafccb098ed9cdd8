// The WebSocket server's own port. The socket listener does TLS and limits connections; HTTP only serves upgrades.
import { createServer, STATUS_CODES } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { openSocketListener, type SocketListener, type SocketListenerOptions } from '../socket-listener.ts';
import { refusalBody, refusalHeaders, type Upgrades } from './upgrade.ts';

/** Largest headers of a request, bytes; the largest token has 8 KiB. */
const MAX_HEADER_BYTES = 16_384;
/** Connections beyond the open sockets, for clients that get a 503 or have sent nothing yet. */
const ANSWERED_CONNECTIONS = 100;

export interface HttpListenerOptions extends Pick<
  SocketListenerOptions,
  'host' | 'port' | 'security' | 'handshakeTimeoutMs' | 'unverifiedTimeoutMs' | 'maxUnverifiedPerAddress'
> {
  /** Most sockets at once. A few more connections are accepted, so that their clients get a 503. */
  readonly maxConnections: number;
  readonly mayTake: SocketListenerOptions['mayTake'];
  readonly upgrades: Upgrades;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Opens the port.
 *
 * @throws AppError `listen_failed` for the address.
 */
export function openHttpListener({ upgrades, ...options }: HttpListenerOptions): Promise<SocketListener> {
  const http = createServer({ maxHeaderSize: MAX_HEADER_BYTES });
  http.on('request', (request, response) => {
    const status = upgrades.statusOf(request);
    response.writeHead(status, STATUS_CODES[status], refusalHeaders(status)).end(refusalBody(status));
  });
  http.on('upgrade', upgrades.upgrade);
  return openSocketListener({
    ...options,
    maxConnections: options.maxConnections + ANSWERED_CONNECTIONS,
    name: 'WebSocket server',
    protocols: ['http/1.1'],
    onConnection: (connection) => {
      http.emit('connection', connection);
    },
  });
}
