// Passes WebSocket upgrades on the operations port to the server that shares it.
import type { FastifyInstance } from 'fastify';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A server of another protocol on the same port. */
export interface UpgradesPort {
  /** Takes over a connection and must close it; the operations server does not cut it. */
  readonly take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Most connections of that server, in addition to those of the operations server. */
  readonly maxConnections: number;
}

/** Passes WebSocket upgrades on. Requests to upgrade to another protocol get the usual answer: many health checkers offer HTTP/2. */
export function passUpgrades(server: FastifyInstance, take: UpgradesPort['take'], idleMs: number): void {
  /** Connections of other upgrade requests, which the HTTP server neither cuts nor limits. */
  const detached = new Set<Socket>();
  server.server.on('upgrade', (request, duplex, head) => {
    if (request.headers.upgrade?.toLowerCase() === 'websocket') {
      take(request, duplex, head);
      return;
    }
    const { socket } = request;
    detached.add(socket);
    socket.once('close', () => detached.delete(socket));
    socket.on('error', () => undefined);
    socket.setTimeout(idleMs, () => socket.destroy());
    // No body will be read.
    request.complete = true;
    request.push(null);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      socket.destroySoon();
    });
    server.server.emit('request', request, response);
  });
  server.addHook('preClose', async () => {
    for (const socket of detached) socket.destroy();
    return Promise.resolve();
  });
}
