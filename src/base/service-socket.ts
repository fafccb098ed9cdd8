// A WebSocket to a service that speaks JSON. Connects once; its owner makes another one after a loss.
import { WebSocket, type RawData } from 'ws';

/** Address and credentials of a service. */
export interface SocketAddress {
  /** `wss://` or `ws://`. */
  readonly url: string | URL;
  /** Sent as a bearer token. Default: none, as for most local servers. */
  readonly key?: string | (() => string | Promise<string>) | undefined;
}

/** Receives the events of a socket. */
export interface SocketListener<Got> {
  /** Parses a message. @returns undefined for a message that is invalid or not used here. */
  readonly read: (text: string) => Got | undefined;
  onOpen(): void;
  onEvent(event: Got): void;
  /** Called once when the socket has closed or could not be opened; not after `close`. */
  onClosed(): void;
}

/** Largest message of a service, bytes: a minute of audio as Base64. */
const MAX_MESSAGE_BYTES = 1_000_000;
/** Most unsent bytes, a minute and a half of speech. With more, the service is not reading, and the socket is closed. */
const MAX_UNSENT_BYTES = 1_000_000;
const HANDSHAKE_MS = 3000;

/** Whether the text is an address of a WebSocket. */
export function isSocketAddress(url: string): boolean {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  return protocol === 'wss:' || protocol === 'ws:';
}

/** One connection. Its creator calls `close`, unless `onClosed` was called. */
export class ServiceSocket<Sent extends object, Got> {
  readonly #listener: SocketListener<Got>;
  #socket: WebSocket | undefined;
  #isClosed = false;

  constructor(address: SocketAddress, listener: SocketListener<Got>) {
    this.#listener = listener;
    this.#open(address).catch(() => {
      this.#end();
    });
  }

  /** Sends one event; does nothing while the socket is not open. */
  send(event: Sent): void {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) socket.terminate();
    else socket.send(JSON.stringify(event));
  }

  close(): void {
    this.#isClosed = true;
    // Closing a socket that is still connecting emits an error, which is expected here.
    this.#socket?.close(1000);
  }

  async #open({ url, key }: SocketAddress): Promise<void> {
    const token = typeof key === 'function' ? await key() : key;
    if (this.#isClosed) return;
    const socket = new WebSocket(url, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    socket.on('open', () => {
      if (!this.#isClosed) this.#listener.onOpen();
    });
    socket.on('message', (data: RawData, isBinary) => {
      const event = isBinary || this.#isClosed ? undefined : this.#listener.read(textOf(data));
      if (event !== undefined) this.#listener.onEvent(event);
    });
    socket.on('error', () => {
      this.#end();
    });
    socket.on('close', () => {
      this.#end();
    });
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket?.terminate();
    this.#listener.onClosed();
  }
}

function textOf(data: RawData): string {
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data)).toString();
}
