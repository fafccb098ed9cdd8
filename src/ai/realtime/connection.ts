// One socket to a speech-to-speech service, from its opening to its end. Connects once; whoever made it makes another.
import { WebSocket, type RawData } from 'ws';
import type { ClientEvent, ServiceEvent } from './events.ts';
import { serviceEvent } from './events.ts';

/** Where a service is, and who calls. */
export interface RealtimeAddress {
  /** `wss://` or `ws://`; the model's name is added as `model`, unless it stands there. */
  readonly url: string;
  readonly model: string;
  /** Sent as a bearer token. Default: none, as local servers want it. */
  readonly key?: string | (() => string | Promise<string>);
}

export interface RealtimeListener {
  onEvent(event: ServiceEvent): void;
  /** Called once, also when it never opened. */
  onClosed(): void;
}

/** Longest message of a service, bytes: a minute of sound as base64. */
const MAX_MESSAGE_BYTES = 1_000_000;
/** More than this behind a service that does not read is given up, bytes: a minute and a half of speech. */
const MAX_UNSENT_BYTES = 1_000_000;
const HANDSHAKE_MS = 3000;

/** @throws TypeError for an address that is none. */
export function demandAddress({ url }: RealtimeAddress): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== 'wss:' && protocol !== 'ws:') throw new TypeError(`the model's address "${url}" is no wss or ws address`);
}

/** The creator calls `close`, unless it was told that it has closed. */
export class RealtimeConnection {
  readonly #listener: RealtimeListener;
  #socket: WebSocket | undefined;
  #isClosed = false;

  constructor(address: RealtimeAddress, first: ClientEvent, listener: RealtimeListener) {
    this.#listener = listener;
    this.#open(address, first).catch(() => {
      this.#end();
    });
  }

  send(event: ClientEvent): void {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) socket.terminate();
    else socket.send(JSON.stringify(event));
  }

  close(): void {
    this.#isClosed = true;
    // A socket that is not open yet ends with an error, which is expected here.
    this.#socket?.close(1000);
  }

  async #open({ url, model, key }: RealtimeAddress, first: ClientEvent): Promise<void> {
    const token = typeof key === 'function' ? await key() : key;
    if (this.#isClosed) return;
    const whole = new URL(url);
    if (!whole.searchParams.has('model')) whole.searchParams.set('model', model);
    const socket = new WebSocket(whole, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    socket.on('open', () => {
      this.send(first);
    });
    socket.on('message', (data: RawData, isBinary) => {
      const event = isBinary || this.#isClosed ? undefined : serviceEvent(textOf(data));
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
