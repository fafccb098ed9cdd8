// HTTP/2 written by hand on a plain socket, for clients that keep to no rule: more streams than allowed, no answers to
// pings, no preface, windows that are never opened again. Knows frames and nothing of gRPC but the prefix of a message.
import { once } from 'node:events';
import net from 'node:net';

/** Frame types. */
const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7 } as const;
const END_HEADERS = 4;
const END_STREAM = 1;
const ACK = 1;
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const FRAME_HEADER_BYTES = 9;

/** By name, or as pairs where a name comes twice. */
type Headers = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

/** A connection on which a test writes what it likes. */
export class FrameClient {
  /** How often each kind of frame has come. */
  readonly counts = { headers: 0, reset: 0, goaway: 0, ping: 0 };
  isClosed = false;
  /** Payload of data frames. The windows are never updated: after 65,535 bytes the server may send no more. */
  receivedBytes = 0;
  readonly #socket: net.Socket;
  #rest: Buffer = Buffer.alloc(0);

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#read(Buffer.concat([this.#rest, chunk]));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  /** Opens a connection without a word. Whoever opens it destroys it. */
  static async connect(port: number): Promise<FrameClient> {
    const socket = net.connect(port, '127.0.0.1');
    const client = new FrameClient(socket);
    await once(socket, 'connect');
    return client;
  }

  /** Begins HTTP/2. */
  greet(): this {
    this.write(Buffer.from(PREFACE));
    this.write(frame(TYPE.settings, 0, 0, Buffer.alloc(0)));
    return this;
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Opens a stream; client streams have odd numbers. */
  open(streamId: number, headers: Headers, options: { readonly isWhole?: boolean } = {}): void {
    this.write(frame(TYPE.headers, END_HEADERS | (options.isWhole === true ? END_STREAM : 0), streamId, block(headers)));
  }

  /** Writes a gRPC message and ends our side of the stream. */
  send(streamId: number, message: Uint8Array): void {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    this.write(frame(TYPE.data, END_STREAM, streamId, Buffer.concat([prefix, message])));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    let offset = 0;
    while (bytes.length - offset >= FRAME_HEADER_BYTES) {
      const end = offset + FRAME_HEADER_BYTES + bytes.readUIntBE(offset, 3);
      if (bytes.length < end) break;
      const type = bytes[offset + 3];
      for (const kind of ['headers', 'reset', 'goaway', 'ping'] as const) if (type === TYPE[kind]) this.counts[kind] += 1;
      if (type === TYPE.data) this.receivedBytes += end - offset - FRAME_HEADER_BYTES;
      // Settings are acknowledged, or the server would end the connection; pings are not.
      if (type === TYPE.settings && bytes[offset + 4] !== ACK) this.write(frame(TYPE.settings, ACK, 0, Buffer.alloc(0)));
      offset = end;
    }
    this.#rest = bytes.subarray(offset);
  }
}

function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

function isPairs(headers: Headers): headers is readonly (readonly [string, string])[] {
  return Array.isArray(headers);
}

/** Headers as literals without indexing and without Huffman coding: the plainest form of HPACK. */
function block(headers: Headers): Buffer {
  const pairs = isPairs(headers) ? headers : Object.entries(headers);
  return Buffer.concat(pairs.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length: number[] = [Math.min(bytes.length, 127)];
  for (let rest = bytes.length - 127; rest >= 0; rest = Math.floor(rest / 128)) {
    length.push(rest >= 128 ? (rest % 128) + 128 : rest);
    if (rest < 128) break;
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}
