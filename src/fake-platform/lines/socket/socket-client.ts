// One WebSocket to a server, dialled as the platform does it: the given address, a checked certificate, and the token only in the upgrade.
// Turns every error into a named failure. Knows no message.
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Clock } from '../../../base/clock.ts';
import { CLOSE_CODE } from '../../../contract/envelope.ts';
import type { PlatformProfile } from '../../../contract/profile.ts';
import { dial, type DialOptions } from '../dial.ts';
import type { Failure } from '../failure.ts';
import { targetText, type Target } from '../target.ts';
import { failureOfClose, failureOfConnection, failureOfUpgrade } from './socket-failure.ts';

/** How to reach a server, and the caller's identity. */
export interface SocketOptions extends DialOptions {
  readonly target: Target;
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  /** The data-source token, sent as `Bearer TOKEN` (W-05). Undefined: no authorization is sent. */
  readonly token?: string;
  /** Longest wait for the connection with its upgrade, and for the server's answer to a close, ms. */
  readonly connectLimitMs: number;
}

/** Receives what happens on a socket. `closed` is called exactly once, and is the last call. */
export interface SocketListener {
  opened(): void;
  received(text: string): void;
  /** `closeCode` is 1006 without a close frame. `failure` is what this close means during a call. */
  closed(closeCode: number, failure: Failure): void;
}

/** Largest accepted message, bytes (W-45). */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** Most data that may wait to be sent, bytes: half an hour of frames. No working line is so far behind. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** A socket, which dials at once; `close` must be called. */
export class SocketClient {
  readonly #options: SocketOptions;
  readonly #listener: SocketListener;
  readonly #socket: WebSocket;
  /** The TCP connection, under TLS if there is TLS. */
  #tcp: Socket | undefined;
  #failure: Failure | undefined;
  readonly #cancelLimit: () => void;
  #cancelClose: (() => void) | undefined;
  readonly #whenSettled: Promise<void>;
  readonly #whenClosed: Promise<void>;

  /** @param path - of the socket at the server, without the target's prefix. */
  constructor(options: SocketOptions, path: string, listener: SocketListener) {
    const { target, token, clock, connectLimitMs } = options;
    this.#options = options;
    this.#listener = listener;
    const socket = new WebSocket(`${targetText(target)}${path}`, {
      createConnection: () => {
        const { tcp, stream } = dial(options, 'http/1.1');
        this.#tcp = tcp;
        return stream;
      },
      // Telephone audio does not compress, and a decompression bomb must not be unpacked.
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    });
    this.#socket = socket;
    this.#cancelLimit = clock.after(connectLimitMs, () => {
      this.#giveUp({ code: 'connect_timeout', message: `no connection within ${String(connectLimitMs)} ms` });
    });
    this.#whenSettled = new Promise((resolve) => {
      socket.once('open', resolve);
      socket.once('close', resolve);
    });
    this.#whenClosed = new Promise((resolve) => {
      socket.once('close', () => resolve());
    });
    this.#hear(path);
  }

  /** Resolves when the socket is open or cannot be opened; `closed` reports why it cannot. */
  get settled(): Promise<void> {
    return this.#whenSettled;
  }

  /** Whether messages can be sent now. */
  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Sends a message; does nothing on a socket that is not open. */
  send(text: string): void {
    if (!this.isOpen) return;
    if (this.#socket.bufferedAmount > MAX_WAITING_BYTES) {
      this.#giveUp({ code: 'no_answer', message: 'the server does not read what is sent' });
      return;
    }
    this.#socket.send(text);
  }

  /** Stops reading messages, so that the server has to wait. One more may come. */
  pause(): void {
    if (this.isOpen) this.#socket.pause();
  }

  /** Continues after `pause`. */
  resume(): void {
    this.#socket.resume();
  }

  /** Closes with code 1000. Resolves when the server has closed, too, or has taken too long; then the connection is dropped. */
  close(): Promise<void> {
    const { readyState } = this.#socket;
    if (readyState === WebSocket.CONNECTING) {
      this.#socket.terminate();
    } else if (readyState === WebSocket.OPEN) {
      // A paused socket would not see the server's close frame.
      this.#socket.resume();
      this.#socket.close(CLOSE_CODE.normal);
    }
    if (readyState === WebSocket.OPEN || readyState === WebSocket.CLOSING) {
      // A second call does not extend the wait.
      this.#cancelClose ??= this.#options.clock.after(this.#options.connectLimitMs, () => this.#socket.terminate());
    }
    return readyState === WebSocket.CLOSED ? Promise.resolve() : this.#whenClosed;
  }

  /** Drops the connection without a close frame. */
  drop(): void {
    this.#socket.terminate();
  }

  /** Cuts the connection as a failing network does: a reset, with no close frame. */
  cut(): void {
    this.#tcp?.resetAndDestroy();
    this.#socket.terminate();
  }

  #hear(path: string): void {
    const socket = this.#socket;
    const { target, token } = this.#options;
    socket.once('open', () => {
      this.#cancelLimit();
      this.#listener.opened();
    });
    socket.on('message', (data, isBinary) => {
      if (isBinary) this.#giveUp({ code: 'garbage', message: 'the server sent a binary message; the contract has text alone (W-0A)' });
      // Text arrives as one Buffer, unless the socket is set to another form.
      else if (Buffer.isBuffer(data)) this.#listener.received(data.toString());
    });
    socket.once('unexpected-response', (_, response) => {
      this.#giveUp(
        failureOfUpgrade(response.statusCode ?? 0, { path: `${target.pathPrefix ?? ''}${path}`, hasToken: token !== undefined }),
      );
    });
    socket.on('error', (error) => {
      this.#failure ??= failureOfConnection(wordsOf(error), { isSecure: target.isSecure, unread: unreadOf(error) });
    });
    socket.once('close', (closeCode, reason) => {
      this.#cancelLimit();
      this.#cancelClose?.();
      this.#listener.closed(closeCode, this.#failure ?? failureOfClose(closeCode, reason.toString()));
    });
  }

  #giveUp(failure: Failure): void {
    this.#failure ??= failure;
    this.#socket.terminate();
  }
}

/** The bytes that the HTTP parser could not read; undefined for other errors. */
function unreadOf(error: Error & { readonly rawPacket?: unknown }): Uint8Array | undefined {
  return error.rawPacket instanceof Uint8Array ? error.rawPacket : undefined;
}

/** The message of an error. When a host has several addresses, only `code` has it. */
function wordsOf(error: Error & { readonly code?: unknown }): string {
  return error.message === '' ? (typeof error.code === 'string' ? error.code : error.name) : error.message;
}
