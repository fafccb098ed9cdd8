// A client of the voice channel below the protocol of WebSockets: writes frames byte by byte, right or wrong, and reads what
// comes back. For what no library would send.
import net from 'node:net';
import type { RunningServer } from './running-server.ts';
import { upgradeRequest } from './socket-peer.ts';
import { until } from './until.ts';

/** What a frame says of itself; what is left out is right. */
export interface FrameHead {
  /** Default 1: text. */
  readonly opcode?: number;
  /** Default true: the message ends with it. */
  readonly isLast?: boolean;
  /** Says that the payload is compressed; nobody has agreed to that. */
  readonly isCompressed?: boolean;
  /** Default true: a client masks what it sends. */
  readonly isMasked?: boolean;
  /** In place of the payload's own. */
  readonly length?: number;
}

/** A frame as it goes over the wire; the mask is nothing. */
export function frame(
  payload: Uint8Array,
  { opcode = 1, isLast = true, isCompressed = false, isMasked = true, length }: FrameHead = {},
): Buffer {
  const head = Buffer.alloc(isMasked ? 14 : 10);
  head[0] = (isLast ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode;
  head[1] = (isMasked ? 0x80 : 0) | 127;
  head.writeBigUInt64BE(BigInt(length ?? payload.length), 2);
  return Buffer.concat([length === undefined && payload.length < 126 ? shortHead(head, payload.length) : head, payload]);
}

/** Lengths below 126 stand in the second byte, and must. */
function shortHead(head: Buffer, length: number): Buffer {
  const mask = head.subarray(10);
  return Buffer.concat([Buffer.of(head[0] ?? 0, ((head[1] ?? 0) & 0x80) | length), mask]);
}

/** A connection over plaintext that was made a socket, unless the upgrade was refused. */
export class RawSocket {
  readonly connection: net.Socket;
  #bytes = Buffer.alloc(0);
  #isClosed = false;

  constructor(port: number) {
    this.connection = net.connect(port, '127.0.0.1');
    this.connection.on('data', (chunk: Buffer) => (this.#bytes = Buffer.concat([this.#bytes, chunk])));
    this.connection.on('error', () => undefined);
    this.connection.once('close', () => (this.#isClosed = true));
  }

  /** Connects to a server without TLS and asks for a socket. @param authorization - of the upgrade. */
  static open({ app }: RunningServer, authorization: string): RawSocket {
    const socket = new RawSocket(app.ready.websocket?.port ?? 0);
    socket.connection.write(upgradeRequest('/v1/va', { authorization }));
    return socket;
  }

  /** Waits for the end of the answer to the upgrade. @returns its status. */
  async upgraded(): Promise<number> {
    await until('the upgrade is answered', () => this.#isClosed || this.#bytes.includes('\r\n\r\n'));
    return this.status;
  }

  /** Status of the upgrade; 0 as long as there is none. */
  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3}) /u.exec(this.#bytes.subarray(0, 16).toString('latin1'))?.[1] ?? 0);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Writes one after the other, each when the one before is on its way, until the server says that it closes. */
  async send(frames: readonly Buffer[]): Promise<void> {
    for (const bytes of frames) {
      if (this.#isClosed || this.said.close !== undefined) return;
      await new Promise<void>((resolve) => {
        this.connection.write(bytes, () => {
          resolve();
        });
      });
    }
  }

  /** Waits until the server has closed the connection. */
  async closed(): Promise<void> {
    await until('the connection is closed', () => this.#isClosed);
  }

  /** Payloads of the text frames that came, and the code of the close; undefined when none came. */
  get said(): { readonly texts: readonly string[]; readonly close: number | undefined } {
    const texts: string[] = [];
    let close: number | undefined;
    const start = this.#bytes.indexOf('\r\n\r\n') + 4;
    for (let at = start; start > 3 && at + 2 <= this.#bytes.length;) {
      const opcode = (this.#bytes[at] ?? 0) & 0x0f;
      const short = (this.#bytes[at + 1] ?? 0) & 0x7f;
      const head = short === 127 ? 10 : short === 126 ? 4 : 2;
      const length = short === 127 ? Number(this.#bytes.readBigUInt64BE(at + 2)) : short === 126 ? this.#bytes.readUInt16BE(at + 2) : short;
      const payload = this.#bytes.subarray(at + head, at + head + length);
      if (opcode === 1) texts.push(payload.toString());
      if (opcode === 8 && payload.length >= 2) close = payload.readUInt16BE(0);
      at += head + length;
    }
    return { texts, close };
  }
}
