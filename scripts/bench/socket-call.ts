// One call of the load over WebSocket: a connection of its own, a frame every 20 ms. It reads only as much of the answers as it
// needs to see that the server listens. Keeps no time: somebody calls `tick`.
import net from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Counted, PacedCall } from './paced-call.ts';
import { audioFrame, endFrame, startFrame, type AudioFrame } from './socket-traffic.ts';
import type { CallName } from './traffic.ts';

/** Where calls over WebSocket go. */
export interface SocketAccess {
  readonly path: string;
  readonly token: string;
}

/** A server, and the authority of its certificate; undefined: it speaks no TLS. */
export interface SocketServer {
  readonly port: number;
  readonly certificatePem: string | undefined;
}

/** Every connection reads into it; nothing of it is kept. */
const shared = Buffer.alloc(65_536);
/** Answers that are longer carry sound. */
const MAX_EVENT_BYTES = 400;
const UPGRADED = Buffer.from('HTTP/1.1 101');

/** A call over WebSocket. */
export class SocketCall implements PacedCall {
  readonly #call: CallName;
  readonly #dial: () => net.Socket;
  readonly #upgrade: string;
  readonly #frame: AudioFrame;
  readonly #counted: () => Counted;
  #socket: net.Socket | undefined;
  #state: 'upgrading' | 'talking' | 'over' = 'upgrading';
  #sent = 0;

  /** @param offset - the frame of the sound that it begins with. @param counted - where to count now. */
  constructor(
    { port, certificatePem }: SocketServer,
    { path, token }: SocketAccess,
    call: CallName,
    offset: number,
    counted: () => Counted,
  ) {
    this.#call = call;
    this.#counted = counted;
    this.#frame = audioFrame(call, offset);
    const callback = (length: number): boolean => {
      this.#read(shared.subarray(0, length));
      return true;
    };
    const options = { port, host: '127.0.0.1', noDelay: true, onread: { buffer: shared, callback } };
    // Node takes `onread` and `noDelay` here, too; its types do not say so.
    const secure: ConnectionOptions = { ...options, servername: 'localhost', ca: certificatePem };
    this.#dial = () => (certificatePem === undefined ? net.connect(options) : connectTls(secure));
    const key = Buffer.from(call.conversationId).subarray(0, 16).toString('base64');
    this.#upgrade = [
      `GET ${path} HTTP/1.1`,
      ...['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`],
      ...[`Authorization: Bearer ${token}`, '', ''],
    ].join('\r\n');
  }

  start(): void {
    this.#socket = this.#dial();
    this.#socket.on('error', () => undefined);
    this.#socket.once('close', () => {
      if (this.#state !== 'over') this.#counted().failed += 1;
    });
    this.#socket.write(this.#upgrade);
  }

  tick(): void {
    if (this.#state !== 'talking' || this.#socket === undefined) return;
    if (this.#socket.writableLength > 0) {
      this.#counted().blocked += 1;
      return;
    }
    this.#frame.fill(this.#sent);
    this.#socket.write(this.#frame.bytes);
    this.#sent += 1;
    this.#counted().frames += 1;
  }

  hangUp(): Promise<void> {
    this.#state = 'over';
    return new Promise((resolve) => {
      this.#socket?.once('close', resolve).end(endFrame(this.#call, this.#sent));
    });
  }

  #read(bytes: Buffer): void {
    if (this.#state === 'upgrading') {
      if (!bytes.subarray(0, UPGRADED.length).equals(UPGRADED)) {
        this.#socket?.destroy();
        return;
      }
      this.#state = 'talking';
      this.#socket?.write(startFrame(this.#call));
    } else if (bytes.length < MAX_EVENT_BYTES && bytes.includes('"START_OF_INPUT"')) this.#counted().starts.push(this.#sent);
  }
}
