// The port of its own that the WebSocket server listens on: TLS and the number of connections by the door, HTTP only as far as
// an upgrade needs it, and a limit for whoever connects and asks for nothing.
import { createServer, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { openDoor, type Door, type DoorOptions } from '../door.ts';
import { refusalBody, refusalHeaders, type Upgrades } from './upgrade.ts';

/** Room for the largest token, which is 8 KiB. */
const MAX_HEADER_BYTES = 16_384;
/** Connections beyond the sockets that may be open: those that are being answered with 503, or have asked for nothing yet. */
const ANSWERED_CONNECTIONS = 100;

/** What it is made of. */
export interface HttpDoorOptions extends Pick<DoorOptions, 'host' | 'port' | 'security' | 'handshakeTimeoutMs'> {
  /** Most sockets at once. Some connections more are let in, to be told that there is no room. */
  readonly maxConnections: number;
  readonly mayTake: DoorOptions['mayTake'];
  readonly upgrades: Upgrades;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Opens the door.
 *
 * @throws AppError `listen_failed` for the address.
 */
export function openHttpDoor({ upgrades, ...options }: HttpDoorOptions): Promise<Door> {
  const { clock, handshakeTimeoutMs } = options;
  const http = createServer({ maxHeaderSize: MAX_HEADER_BYTES });
  /** Connections that have not become a socket yet. A server that does not listen itself has no limit for them. */
  const silent = new WeakMap<Duplex, CancelTimer>();
  http.on('request', (request, response) => {
    const status = upgrades.statusOf(request);
    response.writeHead(status, STATUS_CODES[status], refusalHeaders(status)).end(refusalBody(status));
  });
  http.on('upgrade', (request, socket, head) => {
    silent.get(socket)?.();
    upgrades.upgrade(request, socket, head);
  });
  return openDoor({
    ...options,
    maxConnections: options.maxConnections + ANSWERED_CONNECTIONS,
    name: 'WebSocket server',
    protocols: ['http/1.1'],
    onConnection: (connection) => {
      const cancel = clock.after(handshakeTimeoutMs, () => {
        connection.destroy();
      });
      connection.once('close', cancel);
      silent.set(connection, cancel);
      http.emit('connection', connection);
    },
  });
}
