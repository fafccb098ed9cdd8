// From an HTTP request to a socket: path, method, capacity and token are checked before the upgrade (W-05, W-06,
// W-07). A refusal is a status and a fixed text. Serves the connections of any HTTP server.
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { peerOf } from '../../base/open-connections.ts';
import type { SocketListener } from '../socket-listener.ts';
import type { Gate, Visitor } from '../gate.ts';
import type { Refusals } from '../refused.ts';
import { trackingIdOf } from '../tracking-id.ts';

export type Channel = 'voice' | 'list';

/** A socket with a valid token. */
export interface AcceptedSocket {
  readonly channel: Channel;
  readonly socket: WebSocket;
  readonly visitor: Visitor;
  readonly trackingId: string;
}

export interface UpgradesOptions {
  /** Path of each channel, with the operator's prefix (W-01, W-02). */
  readonly paths: Readonly<Record<Channel, string>>;
  readonly gate: Gate;
  readonly refusals: Refusals;
  readonly clock: Clock;
  /** Header with the platform's correlation id, lower case. */
  readonly trackingHeader: string;
  /** Largest message read, bytes. */
  readonly maxMessageBytes: number;
  /** Longest wait for the check of a token, ms. */
  readonly limitMs: number;
  /** Longest wait for the client to answer a close, ms. */
  readonly closeLimitMs: number;
  /** Whether there is room for one more socket. */
  readonly hasRoom: () => boolean;
  /** The listener of the connection, if it is one of ours: notified when a token check begins and when it succeeds. */
  readonly connections: () => Pick<SocketListener, 'began' | 'verified'> | undefined;
  readonly onSocket: (accepted: AcceptedSocket) => void;
}

/** Most token checks at once. Cached tokens take no time and do not count. */
const MAX_PENDING = 256;

/** The body of each refusal by status: a fixed text that repeats nothing of the request and gives no reason. */
const REFUSAL_TEXTS = {
  400: 'bad request',
  401: 'token refused',
  404: 'not found',
  405: 'method not allowed',
  426: 'upgrade required',
  500: 'internal error',
  503: 'try again later',
} as const;
export type UpgradeRefusal = keyof typeof REFUSAL_TEXTS;

/** Further headers of some refusals. */
const STATUS_HEADERS: Partial<Record<UpgradeRefusal, Readonly<Record<string, string>>>> = {
  400: { 'sec-websocket-version': '13' },
  401: { 'www-authenticate': 'Bearer' },
  405: { allow: 'GET' },
  426: { connection: 'upgrade, close', upgrade: 'websocket' },
};

/** Turns requests into sockets. */
export class Upgrades {
  readonly #options: UpgradesOptions;
  readonly #server: WebSocketServer;
  readonly #pending = new Set<Duplex>();
  #isDraining = false;

  constructor(options: UpgradesOptions) {
    this.#options = options;
    const limits = { maxPayload: options.maxMessageBytes, closeTimeout: options.closeLimitMs };
    this.#server = new WebSocketServer({
      ...limits,
      noServer: true,
      clientTracking: false,
      // Off, because a small message could unpack to a thousand times its size.
      perMessageDeflate: false,
      skipUTF8Validation: false,
      autoPong: true,
      // Messages that arrive together are emitted together. Measured 2026-11-22 on Node 20.20.2, 250 000 frames of 20
      // ms on 50 sockets, medians: 4.1 µs of CPU a message, against 4.8 µs with one message per event loop turn.
      allowSynchronousEvents: true,
      // No subprotocols.
      handleProtocols: () => false,
    });
    this.#server.on('wsClientError', (_error, socket) => {
      this.#refuse(socket, 400);
    });
  }

  /** Refuses every upgrade from now on, until it is called with false. */
  drain(isDraining = true): void {
    this.#isDraining = isDraining;
  }

  /** Destroys the connections whose tokens are being checked. */
  cut(): void {
    for (const socket of this.#pending) socket.destroy();
  }

  /** The status for a request that is no upgrade. */
  statusOf({ method, url }: Pick<IncomingMessage, 'method' | 'url'>): 404 | 405 | 426 {
    if (this.#channelOf(url) === undefined) return 404;
    return method === 'GET' ? 426 : 405;
  }

  /** Handles an upgrade request. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Without a listener an error of the connection would end the process.
    socket.on('error', () => undefined);
    const channel = this.#channelOf(request.url);
    // Requests for unknown paths are not logged.
    if (channel === undefined) {
      this.#refuse(socket, 404);
      return;
    }
    if (request.method !== 'GET') {
      this.#refuse(socket, 405);
      return;
    }
    const trackingId = trackingIdOf(request.headersDistinct[this.#options.trackingHeader]?.[0]);
    const connections = this.#options.connections();
    const peer = peerOf(request.socket);
    // The check ends when the token is refused or the connection is gone.
    const over = connections?.began(peer);
    const admit = (visitor: Visitor): void => {
      connections?.verified(peer);
      // The server's state may have changed during the check.
      const refusal = this.#refusal();
      if (refusal !== undefined) {
        fail(refusal);
        return;
      }
      this.#server.handleUpgrade(request, socket, head, (accepted) => {
        this.#options.onSocket({ channel, socket: accepted, visitor, trackingId });
      });
    };
    const fail = (thrown: unknown): void => {
      over?.();
      const error = toAppError(thrown);
      this.#options.refusals.write('an upgrade', error, { trackingId });
      this.#options.refusals.count(error);
      this.#refuse(socket, statusOf(error));
    };
    try {
      const refusal = this.#refusal();
      if (refusal !== undefined) throw refusal;
      // Two headers are joined, and the result is never a valid token.
      const visitor = this.#options.gate.check(request.headersDistinct['authorization']?.join(', '));
      if (visitor instanceof Promise) this.#wait(socket, visitor).then(admit).catch(fail);
      else admit(visitor);
    } catch (thrown) {
      fail(thrown);
    }
  };

  /** Waits for the check of a token; not called for cached tokens. */
  async #wait(socket: Duplex, checked: Promise<Visitor>): Promise<Visitor> {
    if (this.#pending.size >= MAX_PENDING) {
      checked.catch(() => undefined);
      throw new AppError('overloaded', 'too many tokens are being checked');
    }
    this.#pending.add(socket);
    const cancelLimit = this.#options.clock.after(this.#options.limitMs, () => {
      socket.destroy();
    });
    try {
      return await checked;
    } finally {
      // Removed only now, because the check goes on after the connection is gone.
      this.#pending.delete(socket);
      cancelLimit();
    }
  }

  #channelOf(url = ''): Channel | undefined {
    const path = url.split('?', 1)[0];
    const { voice, list } = this.#options.paths;
    if (path === voice) return 'voice';
    return path === list ? 'list' : undefined;
  }

  #refusal(): AppError | undefined {
    if (this.#isDraining) return new AppError('shutting_down', 'the server takes no new sockets: it stops, or an operator has drained it');
    return this.#options.hasRoom() ? undefined : new AppError('overloaded', 'too many sockets are open');
  }

  #refuse(socket: Duplex, status: UpgradeRefusal): void {
    // Nothing reads from the connection any more, so the end of the other side would go unnoticed.
    socket.once('finish', () => socket.destroy());
    socket.end(refusalText(status));
  }
}

/** Headers of a refusal, whose body is the text for its status. */
export function refusalHeaders(status: UpgradeRefusal): Readonly<Record<string, string>> {
  const body = refusalBody(status);
  return {
    connection: 'close',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    ...STATUS_HEADERS[status],
  };
}

export function refusalBody(status: UpgradeRefusal): string {
  return `${REFUSAL_TEXTS[status]}\n`;
}

/** A refusal as raw bytes, for a connection that HTTP no longer handles. */
function refusalText(status: UpgradeRefusal): string {
  const headers = Object.entries(refusalHeaders(status)).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`, ...headers, '', refusalBody(status)].join('\r\n');
}

function statusOf({ code }: AppError): UpgradeRefusal {
  if (code === 'unauthenticated' || code === 'keys_unavailable') return 401;
  return code === 'overloaded' || code === 'shutting_down' ? 503 : 500;
}
