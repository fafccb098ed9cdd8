// The port of its own that the WebSocket server listens on: TLS and the number of connections by the door, HTTP only as far as
// an upgrade needs it, the time for a good token included.
import { createServer, STATUS_CODES } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { openDoor, type Door, type DoorOptions } from '../door.ts';
import { refusalBody, refusalHeaders, type Upgrades } from './upgrade.ts';

/** Room for the largest token, which is 8 KiB. */
const MAX_HEADER_BYTES = 16_384;
/** Connections beyond the sockets that may be open: those that are being answered with 503, or have asked for nothing yet. */
const ANSWERED_CONNECTIONS = 100;

/** What it is made of. */
export interface HttpDoorOptions extends Pick<
  DoorOptions,
  'host' | 'port' | 'security' | 'handshakeTimeoutMs' | 'unverifiedTimeoutMs' | 'maxUnverifiedPerAddress'
> {
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
  const http = createServer({ maxHeaderSize: MAX_HEADER_BYTES });
  http.on('request', (request, response) => {
    const status = upgrades.statusOf(request);
    response.writeHead(status, STATUS_CODES[status], refusalHeaders(status)).end(refusalBody(status));
  });
  http.on('upgrade', upgrades.upgrade);
  return openDoor({
    ...options,
    maxConnections: options.maxConnections + ANSWERED_CONNECTIONS,
    name: 'WebSocket server',
    protocols: ['http/1.1'],
    onConnection: (connection) => {
      http.emit('connection', connection);
    },
  });
}
