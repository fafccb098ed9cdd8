// The load's connection: HTTP/2 and gRPC frames on a plain socket, because a library that spends as much on a frame
// as the server under test could not load it. Keeps flow control in both directions; knows no message.
import { once } from 'node:events';
import net from 'node:net';
import { MessageReader } from '../../src/fake-platform/load/grpc-framing.ts';

const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, window: 8 } as const;
const FLAG = { ack: 1, endStream: 1, endHeaders: 4, padded: 8 } as const;
const SETTING = { windowBytes: 4 } as const;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const HEADER_BYTES = 9;
const FIRST_WINDOW_BYTES = 65_535;
const WIDE_WINDOW_BYTES = 0x7fff_ffff;
/** What was read is acknowledged in steps of this size. */
const WINDOW_STEP_BYTES = 1 << 20;
const OUT_BYTES = 64 * 1024;
/** Bytes of frame and message header before a message. */
const MESSAGE_AT = HEADER_BYTES + 5;
/** Number that the newest entry of the dynamic header table has. */
const NEWEST_HEADER = 62;

/** What comes back on one stream. */
export interface StreamListener {
  message(bytes: Buffer): void;
  /** @param isWhole - false when the stream was reset or the connection broke. */
  ended(isWhole: boolean): void;
}

interface Stream {
  readonly listener: StreamListener;
  windowBytes: number;
  readonly reader: MessageReader;
}

/** A message ready to be sent on any stream: frame header, gRPC prefix and body. The body may be changed between two sends. */
export interface ReadyMessage {
  readonly frame: Buffer;
  /** Where the body begins. */
  readonly bodyAt: number;
}

/** Puts the headers in front of a message. */
export function readyMessage(body: Uint8Array): ReadyMessage {
  const frame = Buffer.alloc(MESSAGE_AT + body.length);
  frame.writeUIntBE(body.length + 5, 0, 3);
  frame.writeUInt32BE(body.length, HEADER_BYTES + 1);
  frame.set(body, MESSAGE_AT);
  return { frame, bodyAt: MESSAGE_AT };
}

/** One connection; every write is gathered until `flush`. */
export class Http2Line {
  readonly #socket: net.Socket;
  readonly #headers: readonly (readonly [string, string])[];
  readonly #streams = new Map<number, Stream>();
  #nextStream = 1;
  #out = Buffer.allocUnsafe(OUT_BYTES);
  #outLength = 0;
  #in: Buffer = Buffer.alloc(0);
  #sendBytes = FIRST_WINDOW_BYTES;
  #streamWindowBytes = FIRST_WINDOW_BYTES;
  #unacknowledgedBytes = 0;
  #isClosing = false;
  /** Messages that flow control has held back, in order. */
  readonly #held: { readonly id: number; readonly message: ReadyMessage }[] = [];

  private constructor(socket: net.Socket, headers: Readonly<Record<string, string>>) {
    this.#socket = socket;
    this.#headers = Object.entries(headers);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#read(chunk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const { listener } of this.#streams.values()) listener.ended(false);
      this.#streams.clear();
    });
  }

  /** Connects and greets. @param headers - of every RPC; sent once, afterwards by number, as gRPC clients do. */
  static async connect(port: number, headers: Readonly<Record<string, string>>): Promise<Http2Line> {
    const socket = net.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const line = new Http2Line(socket, headers);
    line.#put(PREFACE);
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(SETTING.windowBytes, 0);
    settings.writeUInt32BE(WIDE_WINDOW_BYTES, 2);
    line.#frame(TYPE.settings, 0, 0, settings);
    line.#widen(WIDE_WINDOW_BYTES - FIRST_WINDOW_BYTES);
    line.flush();
    return line;
  }

  /** Opens an RPC. */
  open(listener: StreamListener): number {
    const id = this.#nextStream;
    this.#nextStream += 2;
    this.#frame(TYPE.headers, FLAG.endHeaders, id, this.#headerBlock(id === 1));
    this.#streams.set(id, {
      listener,
      windowBytes: this.#streamWindowBytes,
      reader: new MessageReader((message) => {
        listener.message(message);
      }),
    });
    return id;
  }

  /**
   * Sends a message.
   *
   * @returns false when flow control does not allow it now; nothing was sent then.
   */
  send(id: number, { frame }: ReadyMessage, isLast = false): boolean {
    const stream = this.#streams.get(id);
    const bytes = frame.length - HEADER_BYTES;
    if (stream === undefined || stream.windowBytes < bytes || this.#sendBytes < bytes) return false;
    stream.windowBytes -= bytes;
    this.#sendBytes -= bytes;
    frame[4] = isLast ? FLAG.endStream : 0;
    frame.writeUInt32BE(id, 5);
    this.#put(frame);
    return true;
  }

  /** Sends the one message of an RPC, as soon as flow control allows it. */
  sendWhole(id: number, message: ReadyMessage): void {
    if (this.#held.length > 0 || !this.send(id, message, true)) this.#held.push({ id, message });
  }

  /** Half-closes an RPC. */
  end(id: number): void {
    if (this.#streams.has(id)) this.#frame(TYPE.data, FLAG.endStream, id, Buffer.alloc(0));
  }

  /** Writes what was gathered. */
  flush(): void {
    if (this.#outLength === 0) return;
    this.#socket.write(this.#out.subarray(0, this.#outLength));
    this.#out = Buffer.allocUnsafe(OUT_BYTES);
    this.#outLength = 0;
  }

  close(): void {
    this.#isClosing = true;
    this.#socket.destroy();
  }

  #put(bytes: Uint8Array): void {
    if (this.#outLength + bytes.length > this.#out.length) this.flush();
    this.#out.set(bytes, this.#outLength);
    this.#outLength += bytes.length;
  }

  #frame(type: number, flags: number, id: number, payload: Uint8Array): void {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUIntBE(payload.length, 0, 3);
    header[3] = type;
    header[4] = flags;
    header.writeUInt32BE(id, 5);
    this.#put(header);
    this.#put(payload);
  }

  #widen(bytes: number): void {
    const step = Buffer.alloc(4);
    step.writeUInt32BE(bytes);
    this.#frame(TYPE.window, 0, 0, step);
  }

  // The first RPC puts its headers into the table that both sides keep; later ones name them by number.
  #headerBlock(isFirst: boolean): Buffer {
    if (!isFirst) return Buffer.from(this.#headers.map((_, index) => 0x80 | (NEWEST_HEADER + this.#headers.length - 1 - index)));
    return Buffer.concat(this.#headers.flatMap(([name, value]) => [Buffer.of(0x40), hpackText(name), hpackText(value)]));
  }

  #read(chunk: Buffer): void {
    const bytes = this.#in.length === 0 ? chunk : Buffer.concat([this.#in, chunk]);
    let at = 0;
    while (bytes.length - at >= HEADER_BYTES) {
      const end = at + HEADER_BYTES + bytes.readUIntBE(at, 3);
      if (bytes.length < end) break;
      this.#take(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, bytes.readUInt32BE(at + 5) & 0x7fff_ffff, bytes.subarray(at + HEADER_BYTES, end));
      at = end;
    }
    this.#in = bytes.subarray(at);
    if (this.#unacknowledgedBytes >= WINDOW_STEP_BYTES) {
      this.#widen(this.#unacknowledgedBytes);
      this.#unacknowledgedBytes = 0;
    }
    // Answers to pings and settings must not wait for the next frame of a caller.
    this.flush();
  }

  #take(type: number, flags: number, id: number, payload: Buffer): void {
    switch (type) {
      case TYPE.data:
        this.#unacknowledgedBytes += payload.length;
        this.#takeData(id, payload);
        if ((flags & FLAG.endStream) !== 0) this.#ended(id, true);
        return;
      case TYPE.headers:
        if ((flags & FLAG.endStream) !== 0) this.#ended(id, true);
        return;
      case TYPE.reset:
        // NO_ERROR after a whole answer only says that the rest of the request is not wanted.
        this.#ended(id, payload.readUInt32BE(0) === 0);
        return;
      case TYPE.settings:
        if ((flags & FLAG.ack) === 0) this.#takeSettings(payload);
        return;
      case TYPE.ping:
        if ((flags & FLAG.ack) === 0) this.#frame(TYPE.ping, FLAG.ack, 0, payload);
        return;
      case TYPE.window:
        this.#takeWindow(id, payload.readUInt32BE(0) & 0x7fff_ffff);
        return;
      case TYPE.goaway:
        if (!this.#isClosing) process.stderr.write(`the server ends a connection: code ${String(payload.readUInt32BE(4))}\n`);
        return;
      default:
    }
  }

  #takeSettings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== SETTING.windowBytes) continue;
      const value = payload.readUInt32BE(at + 2);
      for (const stream of this.#streams.values()) stream.windowBytes += value - this.#streamWindowBytes;
      this.#streamWindowBytes = value;
    }
    this.#frame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(0));
  }

  #takeWindow(id: number, bytes: number): void {
    if (id === 0) this.#sendBytes += bytes;
    else {
      const stream = this.#streams.get(id);
      if (stream !== undefined) stream.windowBytes += bytes;
    }
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      if (this.#streams.has(next.id) && !this.send(next.id, next.message, true)) return;
      this.#held.shift();
    }
  }

  #takeData(id: number, payload: Buffer): void {
    this.#streams.get(id)?.reader.push(payload);
  }

  #ended(id: number, isWhole: boolean): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    stream.listener.ended(isWhole);
  }
}

/** A text without Huffman coding, its length in HPACK's own integers. */
function hpackText(value: string): Buffer {
  const bytes = Buffer.from(value);
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  while (rest >= 128) {
    length.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  length.push(rest);
  return Buffer.concat([Buffer.from(length), bytes]);
}
